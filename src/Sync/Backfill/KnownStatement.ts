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

/** A cursor from which a statement can be read, with the position and the balance (major unit) of the last entry before it. */
export interface Start {
  readonly cursor: Option.Option<string>
  readonly position: Option.Option<bigint>
  readonly balance: Option.Option<Amount>
}

export const beginning: Start = { cursor: Option.none(), position: Option.none(), balance: Option.none() }

/** Where to begin: at page boundaries before the window, the nearest first; else at the beginning. */
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
  return [
    ...rows.map(
      ({ balance, cursor, position }): Start => ({
        cursor: Option.some(cursor),
        position: Option.some(position),
        balance: Option.some(Money.fromTrusted(balance)),
      }),
    ),
    beginning,
  ]
})

/** The position of the first entry of an account that is known. */
export const firstPlace = Effect.fn("Backfill.Statements.firstPlace")(function* (
  database: Database,
  book: Book,
  accountId: string,
) {
  const { first } = yield* database.row(
    "Backfill.Statements.firstPlace",
    { first: int8 },
    (sql) => sql`
      select coalesce(min(position), 1) as first from mirror.statement_entries
      where book_id = ${book.bookId} and account_id = ${accountId} and not held`,
  )
  return first
})

/** The booked entries between two positions. */
export const idsAt = Effect.fn("Backfill.Statements.idsAt")(function* (
  database: Database,
  book: Book,
  accountId: string,
  { after, before }: Comparison["gone"][number],
) {
  const rows = yield* database.rows(
    "Backfill.Statements.idsAt",
    { entry_id: uuid },
    (sql) => sql`
      select entry_id from mirror.statement_entries
      where book_id = ${book.bookId} and account_id = ${accountId} and not held
        and position > ${after} and position < ${before} order by position`,
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
