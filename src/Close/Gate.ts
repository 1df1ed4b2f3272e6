/**
 * The completeness gate: what must hold before a month may be closed. The month has just been reconciled, which proved every
 * statement's chain again, entry by entry. The gate compares every stream's evidence with the month's end. Each condition that
 * does not hold is an open finding, which a person can accept by its number.
 */
import { Effect, Option } from "effect"
import { byBook } from "../Book/ByBook.ts"
import { type Book, organizationBook } from "../Book.ts"
import { counted } from "../Common/Text.ts"
import type { Sql } from "../Database/Client.ts"
import { bool, int4, text } from "../Database/Columns.ts"
import { textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import type { CheckName } from "../Reconcile/Check.ts"
import type { Fragment } from "../Reconcile/ReconcileScope.ts"
import { Reconcile } from "../Reconcile.ts"
import { Settings } from "../Settings.ts"
import { type Bridge, bridgesOf, leftOver } from "./Bridge.ts"
import { blockersInTransit } from "./InTransit.ts"
import { type Month, monthsIn } from "./Month.ts"
import { notesOf, readStates } from "./MonthStates.ts"

/** Something that blocks a close. */
export interface Blocker {
  /** The finding's number for `--accept`. Null: it cannot be accepted, and passes by itself. */
  readonly id: string | null
  readonly what: string
  /** The check of the finding; absent if it is not a finding. */
  readonly check?: string
  /** The command that shows the evidence or resolves it. */
  readonly hint: string
  /**
   * A digest of the evidence: an acceptance holds for later months too, until the digest changes. Absent: for one month only.
   */
  readonly evidence?: string
}

export interface Gate {
  readonly blockers: ReadonlyArray<Blocker>
  /** Facts that do not block the close but should be known. */
  readonly notes: ReadonlyArray<string>
  readonly bridge: Bridge
}

/** Checks whose warnings block the close of their month and of later ones. */
const blockingHere: ReadonlyArray<CheckName> = ["adjustment", "unclassified-entry"]

/** Checks whose accepted findings stay accepted while their evidence is the same. */
const acceptedForGood: ReadonlyArray<CheckName> = [
  "account-gone",
  "account-shared",
  "client-gone",
  // What was read stays read, and the books keep the first of it.
  "contradiction",
  // What is dated in a later month is missing in each month before it.
  "dated-ahead",
  // Of a movement that is over: its entries stay what they are.
  "movement-entries",
  "receivable-gone",
  "receivable-state",
]

/** Whether the acceptance of a finding `f` stands for later months while its evidence is the same. */
export const standsForLater = (sql: Sql): Fragment => sql`
  (f.check_name = any (${textArray(sql, acceptedForGood)})
    -- Of interest that was paid too little nothing stands in clearing that could be moved.
    or f.check_name = 'loan-clearing' and coalesce((f.evidence ->> 'loanClearing')::numeric = 0, false)
    -- What stands behind a row of a statement waits for it, and so must a person; the row of another list holds up nothing.
    or f.check_name = 'quarantine' and f.subject_id not like 'statement:%'
    -- What the settings leave out, nobody reads: it is asked for again by the close of a later month.
    or f.check_name = 'stream-unread' and (f.evidence ? 'leftOut' or coalesce(f.evidence ->> 'trouble' = 'NoPath', false)))`

/** Lists that are kept in the organization's book and prove something about its clients' books, too. */
const sharedLists = Effect.map(Settings, ({ accounting }) =>
  accounting.receivables.view === "borrower" ? ["clients", "receivables", "credit_accounts"] : ["clients"],
)

const findingColumns = {
  bookId: int4,
  id: text,
  check_name: text,
  message: text,
  evidence: text,
  lasting: bool,
}

/**
 * The open findings that block: blocking ones, and warnings of `blockingHere` up to the month's end. Evidence that is missing
 * for a later month blocks only that month.
 */
const findings = Effect.fn("Close.gate.findings")(function* (
  months: ReadonlyArray<Month>,
  period: string,
  organization: Book,
) {
  const database = yield* Database
  const shared = yield* sharedLists
  const rows = yield* database.rows(
    "Close.gate.findings",
    findingColumns,
    (sql) => sql`
      with months as materialized (select m.* from ${monthsIn(sql, months)}),
      looked_at as (
        select m.book_id, m.ends, m.zone, f.finding_id from months m
        join reconcile.open_findings f on f.book_id = m.book_id
        union all
        select m.book_id, m.ends, m.zone, f.finding_id from months m
        join reconcile.open_findings f on f.book_id = ${organization.bookId} and f.check_name = 'stream-unread'
          and f.subject_id = any (${textArray(sql, shared)})
        where m.book_id <> ${organization.bookId})
      select l.book_id as "bookId", 'F' || f.finding_id as id, f.check_name, f.message, md5(f.evidence::text) as evidence,
        ${standsForLater(sql)} as lasting
      from looked_at l
      join reconcile.open_findings f on f.finding_id = l.finding_id
      cross join lateral reconcile.facts_of(f.evidence, l.zone) x
      where (f.severity = 'blocking' or f.check_name = any (${textArray(sql, blockingHere)})
          and not coalesce(to_char(ledger.day_of((f.evidence ->> 'occurredAt')::timestamptz, l.zone), 'YYYY-MM')
            > ${period}, false))
        and not (f.check_name = 'stream-unread' and not (f.evidence ->> 'unreadable')::boolean
          and coalesce((f.evidence ->> 'beganAt')::timestamptz >= l.ends, false))
      order by f.severity, coalesce(x.day, ledger.day_of(f.opened_at, l.zone)), f.finding_id`,
  )
  return byBook(
    rows.map(
      ({
        bookId,
        check_name: check,
        evidence,
        id,
        lasting,
        message,
      }): Blocker & { readonly bookId: number } => ({
        ...{ bookId, id, check },
        what: `${check}: ${message}`,
        hint: `tieout explain ${id}`,
        ...(lasting ? { evidence } : {}),
      }),
    ),
  )
})

/** Entries without a number cannot be accepted: the sync under way numbers them when it ends. */
const unnumberedEntries = (unnumbered: number, period: string): Blocker => ({
  id: null,
  what: `${counted(unnumbered, "journal entry", "journal entries")} up to ${period} ${unnumbered === 1 ? "has" : "have"} no journal number yet: a sync that is running numbers ${unnumbered === 1 ? "it" : "them"} when it ends.`,
  hint: "tieout status",
})

const blockerOf = ({ bookId: _, ...blocker }: Blocker & { readonly bookId: number }): Blocker => blocker

/**
 * The gates of one period's months on one connection, by `bookId`. Part of the caller's transaction, which has reconciled the months.
 * `willNumber`: waiting entries will be numbered before the close. `syncing`: a sync of the connection is running.
 */
export const gatesOf = Effect.fn("Close.gates")(function* (
  months: ReadonlyArray<Month>,
  { connection, period }: { readonly connection: string; readonly period: string },
  { syncing, willNumber }: { readonly syncing: boolean; readonly willNumber: boolean },
) {
  const reconcile = yield* Reconcile
  const books = months.map(({ book }) => book)
  const organization =
    books.find(({ clientId }) => Option.isNone(clientId)) ?? (yield* organizationBook(connection))
  const isAmong = books.some(({ bookId }) => bookId === organization.bookId)
  yield* reconcile.streamsForClose(isAmong ? books : [...books, organization], period)
  const bridges = yield* bridgesOf(months, period)
  yield* reconcile.checkForClose(books, period, leftOver(bridges))
  const states = yield* readStates(months, period)
  const found = yield* findings(months, period, organization)
  const inTransit = yield* blockersInTransit(months, period)
  const gates = months.flatMap(({ book }): ReadonlyArray<readonly [number, Gate]> => {
    const bridge = bridges.get(book.bookId)
    const [state] = states.of(book)
    if (bridge === undefined || state === undefined) return []
    const { unnumbered } = state
    const gate: Gate = {
      blockers: [
        ...(unnumbered > 0 && !willNumber ? [unnumberedEntries(unnumbered, period)] : []),
        ...found.of(book).map(blockerOf),
        ...inTransit.of(book).map(blockerOf),
      ],
      notes: [
        ...notesOf(state, { period, willNumber }),
        ...(syncing
          ? ["A sync of this connection is running: what it is reading may differ until it ends."]
          : []),
      ],
      bridge,
    }
    return [[book.bookId, gate]]
  })
  return new Map(gates)
})
