/**
 * What the books know about an account's statement before it is read again: where reading can begin, and which entries are
 * booked.
 */
import { Effect, Option } from "effect"
import type { Book } from "../../Book.ts"
import type { Amount } from "../../Common/Money.ts"
import * as Money from "../../Common/Money.ts"
import { int4, int8, text, uuid } from "../../Database/Columns.ts"
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
}

export const beginning: Start = {
  cursor: Option.none(),
  filtered: false,
  position: Option.none(),
  balance: Option.none(),
}

/** Where to begin: at page boundaries before the window, the nearest first. */
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
      order by p.position desc limit ${boundariesTried}`,
  )
  return rows.map(
    ({ balance, cursor, position }): Start => ({
      cursor: Option.some(cursor),
      filtered: false,
      position: Option.some(position),
      balance: Option.some(Money.fromTrusted(balance)),
    }),
  )
})

/** The first position of an account that is booked, and the last one in the window: 0 where it has none. */
export const places = Effect.fn("Backfill.Statements.places")(function* (
  database: Database,
  book: Book,
  accountId: string,
  window: Window,
) {
  return yield* database.row(
    "Backfill.Statements.places",
    { first: int8, last_within: int8 },
    (sql) => sql`
      select coalesce(min(position), 1) as first,
        coalesce(max(position) filter (where occurred_at >= ${window.start} and occurred_at < ${window.end}), 0)
          as last_within
      from mirror.statement_entries
      where book_id = ${book.bookId} and account_id = ${accountId} and not held`,
  )
})

/** Right before the first entry in the window that is booked; where there is none, behind the last one before it. */
export const filteredStart = Effect.fn("Backfill.Statements.filteredStart")(function* (
  database: Database,
  book: Book,
  accountId: string,
  window: Window,
) {
  const [before] = yield* database.rows(
    "Backfill.Statements.filteredStart",
    { position: int8, balance: text },
    (sql) => sql`
      select e.position, e.balance_after::text as balance from mirror.statement_entries e
      where e.book_id = ${book.bookId} and e.account_id = ${accountId} and not e.held
        and e.position < (
          select coalesce(
            min(position) filter (where occurred_at >= ${window.start} and occurred_at < ${window.end}),
            max(position) filter (where occurred_at < ${window.start}) + 1)
          from mirror.statement_entries
          where book_id = ${book.bookId} and account_id = ${accountId} and not held)
      order by e.position desc limit 1`,
  )
  return {
    ...beginning,
    filtered: true,
    position: Option.map(Option.fromNullable(before), ({ position }) => position),
    balance: Option.map(Option.fromNullable(before), ({ balance }) => Money.fromTrusted(balance)),
  } satisfies Start
})

/** The booked entries between two positions. */
export const idsAt = Effect.fn("Backfill.Statements.idsAt")(function* (
  database: Database,
  book: Book,
  accountId: string,
  { after, before, within }: Comparison["gone"][number],
) {
  const rows = yield* database.rows(
    "Backfill.Statements.idsAt",
    { entry_id: uuid },
    (sql) => sql`
      select entry_id from mirror.statement_entries
      where book_id = ${book.bookId} and account_id = ${accountId} and not held
        and position > ${after} and position < ${before}
        and occurred_at >= ${within?.start ?? "-infinity"}::timestamptz
        and occurred_at < ${within?.end ?? "infinity"}::timestamptz
      order by position`,
  )
  return rows.map(({ entry_id: id }) => id)
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
