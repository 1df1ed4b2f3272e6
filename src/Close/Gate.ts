/**
 * The completeness gate: what must hold before a month may be closed. The month has just been reconciled, so that every
 * statement's chain was proved again entry by entry; what did not hold is an open finding.
 */
import { Effect, Option } from "effect"
import { Database } from "../Database.ts"
import type { CheckName } from "../Reconcile/Check.ts"
import { openFindings } from "../Reconcile/Summary.ts"
import { type Bridge, bridgeOf, unbridged } from "./Bridge.ts"
import { blockersInTransit } from "./InTransit.ts"
import type { Month } from "./Month.ts"

/** One thing that stands in the way of a close. */
export interface Blocker {
  /** What `--accept` takes: a finding, or an account that cannot be read. Null: nobody can answer for it. */
  readonly id: string | null
  readonly what: string
  /** The command that shows the evidence, or mends it. */
  readonly hint: string
}

export interface Gate {
  readonly blockers: ReadonlyArray<Blocker>
  /** What does not stand in the way, but should be known. */
  readonly notes: ReadonlyArray<string>
  readonly bridge: Bridge
}

/** A warning elsewhere, but a month does not close with something in suspense. */
const suspense: ReadonlyArray<CheckName> = ["adjustment", "unclassified-entry"]

interface StateRow {
  readonly last_sync: string | null
  readonly failed: boolean
  readonly unnumbered: number
  readonly backfilled: boolean
}

/** `syncing`: a sync of the connection runs at this moment, so that the one before it is the last that has ended. */
const readState = Effect.fn("Close.gate.state")(function* ({ book, end, period }: Month, syncing: boolean) {
  const database = yield* Database
  const first = `${period}-01`
  const rows = yield* database.query(
    "Close.gate.state",
    (sql) => sql<Array<StateRow>>`
      with last as (
        select r.state, coalesce(r.summary -> 'failedBooks' ? ${book.code}, false) as failed from sync.runs r
        where r.connection = ${book.connection} and r.command = 'sync' and not (${syncing} and r.state = 'running')
        order by r.run_id desc limit 1)
      select (select state from last) as last_sync, coalesce((select failed from last), false) as failed,
        (select count(*)::integer from ledger.unnumbered u
         join ledger.journal_entries j on j.book_id = u.book_id and j.entry_id = u.entry_id
         where u.book_id = ${book.bookId} and j.period <= ${first}::text::date) as unnumbered,
        exists (
          select 1 from sync.runs r
          where r.connection = ${book.connection} and r.command = 'backfill' and r.state = 'done'
            and r.started_at >= ${end}::text::timestamptz
            and (r.summary -> 'days' ->> 'from')::date <= ${first}::text::date
            and (r.summary -> 'days' ->> 'to')::date >= (${first}::text::date + interval '1 month')::date - 1
            and not coalesce(r.summary -> 'failedBooks' ? ${book.code}, false)) as backfilled`,
  )
  const [row] = rows
  return row === undefined ? yield* Effect.dieMessage("the state of a book is one row") : row
})

/** Accounts whose statement was not read past the end of the month. */
const unread = Effect.fn("Close.gate.unread")(function* ({ book, end }: Month) {
  const database = yield* Database
  const rows = yield* database.query(
    "Close.gate.unread",
    (sql) => sql<Array<{ account_id: string; read_at: string | null }>>`
      select a.account_id, to_char(a.tail_read_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as read_at
      from mirror.accounts a
      where a.book_id = ${book.bookId} and (a.tail_read_at is null or a.tail_read_at < ${end}::text::timestamptz)
      order by a.account_id`,
  )
  return rows.map(
    ({ account_id: id, read_at: readAt }): Blocker => ({
      id,
      what:
        readAt === null
          ? `The statement of account ${id} has never been read to its end.`
          : `The statement of account ${id} was last read to its end on ${readAt}, before the month was over (${end}).`,
      hint: "tieout sync",
    }),
  )
})

/** Blocking findings of the book, and what stands in suspense up to the end of the month. */
const findings = Effect.fn("Close.gate.findings")(function* ({ book, period, timeZone }: Month) {
  const database = yield* Database
  const open = yield* openFindings([book], Option.none())
  const later = yield* database.query(
    "Close.gate.later",
    (sql) => sql<Array<{ id: string }>>`
      select 'F' || f.finding_id as id from reconcile.findings f
      where f.book_id = ${book.bookId} and f.closed_at is null
        and to_char((f.evidence ->> 'occurredAt')::timestamptz at time zone ${timeZone}::text, 'YYYY-MM') > ${period}`,
  )
  const afterwards = new Set(later.map(({ id }) => id))
  return open
    .filter(
      ({ check, findingId, severity }) =>
        severity === "blocking" || (suspense.some((name) => name === check) && !afterwards.has(findingId)),
    )
    .map(
      ({ check, findingId, message }): Blocker => ({
        id: findingId,
        what: `${check}: ${message}`,
        hint: `tieout explain ${findingId}`,
      }),
    )
})

const ofState = (
  { failed, last_sync: lastSync, unnumbered }: StateRow,
  month: Month,
  willNumber: boolean,
): ReadonlyArray<Blocker> => {
  const blocker = (what: string, hint = "tieout sync"): Blocker => ({ id: null, what, hint })
  return [
    ...(lastSync === null ? [blocker("No sync of this connection has ended yet.")] : []),
    ...(lastSync !== null && lastSync !== "done"
      ? [blocker(`The last sync of this connection did not end well (${lastSync}).`)]
      : []),
    ...(failed ? [blocker(`The last sync could not read book ${month.book.code}.`)] : []),
    ...(unnumbered > 0 && !willNumber
      ? [
          blocker(
            `${unnumbered} journal entries up to ${month.period} have no journal number yet: a sync that is running numbers them when it ends.`,
            "tieout status",
          ),
        ]
      : []),
  ]
}

const ofBridge = (bridge: Bridge): ReadonlyArray<Blocker> =>
  unbridged(bridge).map(({ accountId, closingDifference, currency, difference }) => ({
    id: null,
    what: `Between the statement of account ${accountId} and the books ${difference} ${currency} of the month's movements and ${closingDifference} ${currency} of the closing balance are left over.`,
    hint: `tieout explain ${accountId}`,
  }))

/** Part of the caller's transaction. `willNumber`: what waits for its number gets it before the close. */
export const gateOf = Effect.fn("Close.gate")(function* (
  month: Month,
  { syncing, willNumber }: { readonly syncing: boolean; readonly willNumber: boolean },
) {
  const state = yield* readState(month, syncing)
  const bridge = yield* bridgeOf(month)
  return {
    blockers: [
      ...ofState(state, month, willNumber),
      ...(yield* unread(month)),
      ...(yield* findings(month)),
      ...(yield* blockersInTransit(month)),
      ...ofBridge(bridge),
    ],
    notes: [
      ...(state.backfilled
        ? []
        : [
            `No backfill has read all of ${month.period} again since it ended: tieout backfill --period ${month.period}`,
          ]),
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
