/**
 * Which base-currency journal is meant: the one that is kept, or one that a transaction makes for itself in temporary tables
 * of the same columns, with the same views: what the journal was at a time (`then`), and what it is to be compared with
 * (`now`).
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

/** Empty tables for a journal and its views, in the caller's transaction: only it sees them, and they go away with it. */
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

/** What is read of it next are plans that know how large it is. */
export const endJournal = Effect.fn("Valuation.endJournal")(function* (journal: Exclude<Journal, "kept">) {
  const database = yield* Database
  for (const table of tables) {
    yield* database.execute(
      "Valuation.endJournal",
      (sql) => sql`analyze ${journalTable(sql, journal, table)}`,
    )
  }
})

/** Takes a month over as it is kept; its entries only where they are `wanted`. */
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

/** Whenever its months were valued: what a journal was at a time bears that time, and does not depend on when it was made. */
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
