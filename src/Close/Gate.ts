/**
 * The completeness gate: what must hold before a month may be closed. The month has just been reconciled, which proved every
 * statement's chain again, entry by entry. The gate compares every stream's evidence with the month's end. Whatever does not
 * hold is an open finding, whose number a person can accept.
 */
import { Effect, Option } from "effect"
import { type Book, organizationBook } from "../Book.ts"
import { bool, int4, type RowOf, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import type { CheckName } from "../Reconcile/Check.ts"
import { Reconcile } from "../Reconcile.ts"
import { Settings } from "../Settings.ts"
import { type Bridge, bridgeOf, leftOver } from "./Bridge.ts"
import { blockersInTransit } from "./InTransit.ts"
import type { Month } from "./Month.ts"

/** Something that blocks a close. */
export interface Blocker {
  /** The finding's number for `--accept`. Null: nobody can accept it, and it passes by itself. */
  readonly id: string | null
  readonly what: string
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
const acceptedForGood: ReadonlySet<string> = new Set<CheckName>([
  "account-gone",
  "client-gone",
  "receivable-gone",
])

const listed = (names: ReadonlyArray<string>): string => `{${names.join(",")}}`

/** Lists that are kept in the organization's book and prove something about the given book, too. */
const sharedLists = Effect.fn("Close.gate.sharedLists")(function* ({ clientId }: Book) {
  const { accounting } = yield* Settings
  if (Option.isNone(clientId)) return []
  return accounting.receivables.view === "borrower"
    ? ["clients", "receivables", "credit_accounts"]
    : ["clients"]
})

const stateColumns = {
  unnumbered: int4,
  backfilled: bool,
}

type StateRow = RowOf<typeof stateColumns>

const readState = Effect.fn("Close.gate.state")(function* ({ book, end, period }: Month) {
  const database = yield* Database
  const first = `${period}-01`
  return yield* database.row(
    "Close.gate.state",
    stateColumns,
    (sql) => sql`
      select (select count(*)::integer from ledger.unnumbered u
         join ledger.journal_entries j on j.book_id = u.book_id and j.entry_id = u.entry_id
         where u.book_id = ${book.bookId} and j.period <= ${first}::text::date) as unnumbered,
        exists (
          select 1 from sync.runs r
          where r.connection = ${book.connection} and r.command = 'backfill' and r.state = 'done'
            and r.started_at >= ${end}::text::timestamptz
            and (r.summary -> 'days' ->> 'from')::date <= ${first}::text::date
            and (r.summary -> 'days' ->> 'to')::date >= (${first}::text::date + interval '1 month')::date - 1
            and not coalesce(sync.failed_to_read(r.summary, ${book.code}), false)) as backfilled`,
  )
})

const findingColumns = {
  id: text,
  check_name: text,
  message: text,
  evidence: text,
}

/**
 * The open findings that block: blocking ones, and warnings of `blockingHere` up to the month's end. Evidence that is missing
 * for a later month blocks only that month.
 */
const findings = Effect.fn("Close.gate.findings")(function* (
  { book, end, period, timeZone }: Month,
  organization: Book,
) {
  const database = yield* Database
  const shared = yield* sharedLists(book)
  const rows = yield* database.rows(
    "Close.gate.findings",
    findingColumns,
    (sql) => sql`
      select 'F' || f.finding_id as id, f.check_name, f.message, md5(f.evidence::text) as evidence
      from reconcile.open_findings f
      where (f.book_id = ${book.bookId} or f.book_id = ${organization.bookId} and f.check_name = 'stream-unread'
          and f.subject_id = any (${listed(shared)}::text::text[]))
        and (f.severity = 'blocking' or f.check_name = any (${listed(blockingHere)}::text::text[])
          and not coalesce(to_char((f.evidence ->> 'occurredAt')::timestamptz at time zone ${timeZone}::text, 'YYYY-MM')
            > ${period}, false))
        and not (f.check_name = 'stream-unread' and not (f.evidence ->> 'unreadable')::boolean
          and coalesce((f.evidence ->> 'beganAt')::timestamptz >= ${end}::text::timestamptz, false))
      order by f.severity, f.opened_at, f.finding_id`,
  )
  return rows.map(
    ({ check_name: check, evidence, id, message }): Blocker => ({
      id,
      what: `${check}: ${message}`,
      hint: `tieout explain ${id}`,
      ...(acceptedForGood.has(check) ? { evidence } : {}),
    }),
  )
})

/** Nobody can accept entries without a number: the sync under way numbers them when it ends. */
const unnumberedEntries = ({ unnumbered }: StateRow, { period }: Month): Blocker => ({
  id: null,
  what: `${unnumbered} journal entries up to ${period} have no journal number yet: a sync that is running numbers them when it ends.`,
  hint: "tieout status",
})

/**
 * Part of the caller's transaction, in which the month has been reconciled. `willNumber`: waiting entries will be numbered
 * before the close. `syncing`: a sync of the connection is running.
 */
export const gateOf = Effect.fn("Close.gate")(function* (
  month: Month,
  { syncing, willNumber }: { readonly syncing: boolean; readonly willNumber: boolean },
) {
  const reconcile = yield* Reconcile
  const { book, period } = month
  const organization = Option.isNone(book.clientId) ? book : yield* organizationBook(book.connection)
  yield* reconcile.streamsForClose(book, period)
  if (organization !== book) yield* reconcile.streamsForClose(organization, period)
  const bridge = yield* bridgeOf(month)
  yield* reconcile.checkForClose(book, period, leftOver(book, bridge))
  const state = yield* readState(month)
  return {
    blockers: [
      ...(state.unnumbered > 0 && !willNumber ? [unnumberedEntries(state, month)] : []),
      ...(yield* findings(month, organization)),
      ...(yield* blockersInTransit(month)),
    ],
    notes: [
      ...(state.backfilled
        ? []
        : [`No backfill has read all of ${period} again since it ended: tieout backfill --period ${period}`]),
      ...(state.unnumbered > 0 && willNumber
        ? [`${state.unnumbered} journal entries get their numbers before the close.`]
        : []),
      ...(syncing
        ? ["A sync of this connection is running: what it is reading may differ until it ends."]
        : []),
    ],
    bridge,
  } satisfies Gate
})
