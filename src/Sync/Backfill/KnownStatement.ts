/**
 * What the books know about an account's statement before it is read again: where reading can begin, and which entries are
 * booked.
 */
import { Effect, Option } from "effect"
import type { Book } from "../../Book.ts"
import type { Amount } from "../../Common/Money.ts"
import * as Money from "../../Common/Money.ts"
import { mostLag } from "../../Common/ServiceLag.ts"
import { bool, int4, int8, nullable, text, uuid } from "../../Database/Columns.ts"
import type { Database } from "../../Database.ts"
import type { Comparison } from "./Compare.ts"
import type { Window } from "./Window.ts"

/** Page boundaries that are tried, newest first, before the very beginning. */
const boundariesTried = 5

/**
 * Where a statement is read from: behind a cursor, or without one from its beginning. `filtered`: limited to the window,
 * as the service understands that. With the position and the balance (major unit) of the last entry before it.
 */
export interface Start {
  readonly cursor: Option.Option<string>
  readonly filtered: boolean
  readonly position: Option.Option<bigint>
  readonly balance: Option.Option<Amount>
  /** Filtered: what came late of the time before the window. It stands behind this place, and the filter leaves it out. */
  readonly late: Option.Option<Amount>
}

export const beginning: Start = {
  cursor: Option.none(),
  filtered: false,
  position: Option.none(),
  balance: Option.none(),
  late: Option.none(),
}

/**
 * Where to begin: at page boundaries before the window, the nearest first. A boundary that occurred before the window may stand
 * behind some of it, since what comes late stands where it was posted.
 */
export const starts = Effect.fn("Backfill.Statements.starts")(function* (
  database: Database,
  book: Book,
  accountId: string,
  window: Window,
) {
  const rows = yield* database.rows(
    "Backfill.Statements.starts",
    { cursor: text, position: int8, balance: text },
    (sql) => sql`
      select p.cursor, p.position, e.balance_after::text as balance
      from sync.page_boundaries p
      join mirror.statement_entries e on e.book_id = p.book_id and e.account_id = p.account_id
        and e.position = p.position
      where p.book_id = ${book.bookId} and p.account_id = ${accountId} and p.occurred_at < ${window.start}
        and p.position < (
          select coalesce(min(i.position), 9223372036854775807) from mirror.statement_entries i
          where i.book_id = ${book.bookId} and i.account_id = ${accountId} and not i.held
            and i.occurred_at >= ${window.start})
      order by p.position desc limit ${boundariesTried}`,
  )
  return rows.map(
    ({ balance, cursor, position }): Start => ({
      ...beginning,
      cursor: Option.some(cursor),
      position: Option.some(position),
      balance: Option.some(Money.fromTrusted(balance)),
    }),
  )
})

/**
 * The first position of an account that is booked, and the last one, with its entry, that a reading comes to: in the window where it
 * is filtered, else of all that had occurred by the window's end. 0 where there is none.
 */
export const places = Effect.fn("Backfill.Statements.places")(function* (
  database: Database,
  book: Book,
  accountId: string,
  window: Window,
  filtered: boolean,
) {
  const from = filtered ? window.start : "-infinity"
  return yield* database.row(
    "Backfill.Statements.places",
    { first: int8, last: int8, last_entry: nullable(uuid) },
    (sql) => sql`
      with booked as (
        select min(position) as first,
          max(position) filter (
            where occurred_at >= ${from}::timestamptz and occurred_at < ${window.end}::timestamptz) as last
        from mirror.statement_entries
        where book_id = ${book.bookId} and account_id = ${accountId} and not held)
      select coalesce(b.first, 1) as first, coalesce(b.last, 0) as last, e.entry_id as last_entry
      from booked b
      left join mirror.statement_entries e
        on e.book_id = ${book.bookId} and e.account_id = ${accountId} and e.position = b.last`,
  )
})

/** Right before the first entry in the window that is booked; where there is none, behind the last one before it. */
export const filteredStart = Effect.fn("Backfill.Statements.filteredStart")(function* (
  database: Database,
  book: Book,
  accountId: string,
  window: Window,
) {
  const before = yield* database.row(
    "Backfill.Statements.filteredStart",
    { position: nullable(int8), balance: nullable(text), late: text },
    (sql) => sql`
      with booked as (
        select e.position, e.balance_after, e.occurred_at,
          case e.type when 'CREDIT' then e.amount else -e.amount end as amount
        from mirror.statement_entries e
        where e.book_id = ${book.bookId} and e.account_id = ${accountId} and not e.held),
      before as (
        select max(position) as position from booked where position < (
          select coalesce(
            min(position) filter (where occurred_at >= ${window.start} and occurred_at < ${window.end}),
            max(position) filter (where occurred_at < ${window.start}) + 1)
          from booked))
      select b.position, e.balance_after::text as balance,
        (select coalesce(sum(l.amount), 0)::text from booked l
         where l.occurred_at < ${window.start} and (b.position is null or l.position > b.position)) as late
      from before b left join booked e on e.position = b.position`,
  )
  return {
    ...beginning,
    filtered: true,
    position: Option.fromNullable(before.position),
    balance: Option.map(Option.fromNullable(before.balance), Money.fromTrusted),
    late: Option.some(Money.fromTrusted(before.late)),
  } satisfies Start
})

/** The booked entries between two positions, in their order. `mayLag`: an answer may be from before it came. */
export const goneAt = Effect.fn("Backfill.Statements.goneAt")(function* (
  database: Database,
  book: Book,
  accountId: string,
  { after, before, isEnd, within }: Comparison["gone"][number],
  asked: string,
) {
  return yield* database.rows(
    "Backfill.Statements.goneAt",
    { entryId: uuid, mayLag: bool },
    (sql) => sql`
      select entry_id as "entryId",
        ${isEnd}::boolean and abs(extract(epoch from occurred_at - ${asked}::timestamptz)) <= ${mostLag} as "mayLag"
      from mirror.statement_entries
      where book_id = ${book.bookId} and account_id = ${accountId} and not held
        and position > ${after} and position < ${before}
        and occurred_at >= ${within?.start ?? "-infinity"}::timestamptz
        and occurred_at < ${within?.end ?? "infinity"}::timestamptz
      order by position`,
  )
})

/** How often the opening balance of an account was corrected. */
export const corrections = Effect.fn("Backfill.Statements.corrections")(function* (
  database: Database,
  book: Book,
  accountId: string,
) {
  const { last } = yield* database.row(
    "Backfill.Statements.corrections",
    { last: int4 },
    (sql) => sql`
      select coalesce(max(sequence), 0) as last from ledger.journal_entries
      where book_id = ${book.bookId} and source_id = ${accountId} and source_type = 'opening'`,
  )
  return last
})
