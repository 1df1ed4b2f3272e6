/**
 * Chooses a base-currency journal: the kept one, or one that a transaction makes in temporary tables with the same columns and
 * views: the journal as of a time (`then`), and the one to compare it with (`now`).
 */
import { Effect } from "effect"
import type { Sql } from "../Database/Client.ts"
import { Database } from "../Database.ts"

export type Journal = "kept" | "then" | "now"

const tables = ["months", "entries", "postings"] as const

export const journalTable = (
  sql: Sql,
  journal: Journal,
  table: (typeof tables)[number] | "journal" | "journal_lines",
) =>
  journal === "kept"
    ? sql`${sql("valuation")}.${sql(table)}`
    : sql`${sql("pg_temp")}.${sql(`${journal}_${table}`)}`

/** Creates empty tables and views for a journal in the caller's transaction: only it sees them, and they disappear with it. */
export const beginJournal = Effect.fn("Valuation.beginJournal")(function* (
  journal: Exclude<Journal, "kept">,
) {
  const database = yield* Database
  for (const table of tables) {
    yield* database.execute(
      "Valuation.beginJournal",
      (sql) => sql`
        create temporary table ${sql(`${journal}_${table}`)}
        (like ${journalTable(sql, "kept", table)} including defaults including indexes) on commit drop`,
    )
  }
  yield* database.execute(
    "Valuation.beginJournal",
    (sql) => sql`select valuation.make_journal_views(${`pg_temp.${journal}_`})`,
  )
})

/** Updates the statistics, so that the queries that follow are planned for its size. */
export const endJournal = Effect.fn("Valuation.endJournal")(function* (journal: Exclude<Journal, "kept">) {
  const database = yield* Database
  for (const table of tables) {
    yield* database.execute(
      "Valuation.endJournal",
      (sql) => sql`analyze ${journalTable(sql, journal, table)}`,
    )
  }
})

/** Copies a month from the kept journal; its entries only if `wanted`. */
export const copyMonth = Effect.fn("Valuation.copyMonth")(function* (
  bookId: number,
  period: string,
  journal: Exclude<Journal, "kept">,
  wanted: boolean,
) {
  const database = yield* Database
  for (const table of wanted ? tables : (["months"] as const)) {
    yield* database.execute(
      "Valuation.copyMonth",
      (sql) => sql`
        insert into ${journalTable(sql, journal, table)}
        select * from ${journalTable(sql, "kept", table)}
        where book_id = ${bookId} and period = ${`${period}-01`}::text::date`,
    )
  }
})

/** Sets the valuation times of all its months to the as-of time, so that the journal does not depend on when it was made. */
export const dateJournal = Effect.fn("Valuation.dateJournal")(function* (
  journal: Exclude<Journal, "kept">,
  asOf: string,
) {
  const database = yield* Database
  yield* database.execute(
    "Valuation.dateJournal",
    (sql) => sql`update ${journalTable(sql, journal, "months")} set valued_at = ${asOf}::text::timestamptz`,
  )
})
