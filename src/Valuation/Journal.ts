/**
 * Which base-currency journal is meant: the one that is kept, or that of a time, which a transaction makes for itself in
 * temporary tables of the same columns. Those go away with it.
 */
import { Effect } from "effect"
import type { Sql } from "../Database/Client.ts"
import { Database } from "../Database.ts"

/** The schema of `months`, `entries` and `postings`. `asOf` is what `resolveAsOf` gave; null: the journal that is kept. */
export const journalOf = (sql: Sql, asOf: string | null) => (asOf === null ? sql`valuation` : sql`pg_temp`)

const tables = ["months", "entries", "postings"] as const

/** Empty tables for the journal of a time, in the caller's transaction: only it sees them. */
export const beginScratch = Effect.fn("Valuation.beginScratch")(function* () {
  const database = yield* Database
  for (const table of tables) {
    yield* database.query(
      "Valuation.beginScratch",
      (sql) => sql`
        create temporary table ${sql(table)} (like valuation.${sql(table)} including defaults including indexes)
        on commit drop`,
    )
  }
})

/** Takes a month over as it is kept; its entries only where they are `wanted`. */
export const copyMonth = Effect.fn("Valuation.copyMonth")(function* (
  bookId: number,
  period: string,
  asOf: string,
  wanted: boolean,
) {
  const database = yield* Database
  const first = `${period}-01`
  yield* database.query(
    "Valuation.copyMonth",
    (sql) => sql`
      insert into pg_temp.months
      select * from valuation.months where book_id = ${bookId} and period = ${first}::text::date`,
  )
  // Valued on demand, maybe later than that time: what it says does not depend on when.
  yield* database.query(
    "Valuation.copyMonth.time",
    (sql) => sql`
      update pg_temp.months set valued_at = least(valued_at, ${asOf}::text::timestamptz)
      where book_id = ${bookId} and period = ${first}::text::date`,
  )
  if (!wanted) return
  for (const table of ["entries", "postings"] as const) {
    yield* database.query(
      "Valuation.copyMonth.rows",
      (sql) => sql`
        insert into pg_temp.${sql(table)}
        select * from valuation.${sql(table)} where book_id = ${bookId} and period = ${first}::text::date`,
    )
  }
})
