/** Which journal an export reads. Their views have the same columns, so that everything else reads them alike. */
import { Effect } from "effect"
import type { Sql } from "../../Database/Client.ts"
import { plainArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import { type Journal, journalTable } from "../../Valuation/BaseJournal.ts"

/**
 * The books in their own currencies, or the base-currency journal: the kept one, the as-of one (`then`), or the one made as of
 * now.
 */
export type JournalName = "native" | Journal

export interface BookJournal {
  readonly bookId: number
  readonly journal: JournalName
}

/** `ledger.journal`, `ledger.journal_lines` (drizzle/rules.sql) or their like. */
export const journalView = (sql: Sql, journal: JournalName, view: "journal" | "journal_lines") =>
  journal === "native" ? sql`${sql("ledger")}.${sql(view)}` : journalTable(sql, journal, view)

/**
 * Settings of the planner, with which entries are looked up one by one, along the index of numbers: that needs no memory, does not
 * grow with the rest of the ledger, and was faster than hashing and sorting it (1M postings: 5.7 s against 7.2 s). The planner
 * would prefer the latter, so it is switched off here. Materializing is switched off, too: the planner takes tables without
 * statistics, as after a first sync, to be small, and would reread a materialized result from its beginning for every entry.
 * `sorting`: the rows are not read in an index's order.
 */
export const oneByOne = (sorting: boolean): Readonly<Record<string, string>> => ({
  enable_sort: sorting ? "on" : "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  enable_seqscan: "off",
  enable_memoize: "off",
  enable_material: "off",
  jit: "off",
  max_parallel_workers_per_gather: "0",
  plan_cache_mode: "force_custom_plan",
})

/** From here on, the transaction looks entries up one by one; see `oneByOne`. */
export const lookUpOneByOne = Effect.fn("Export.lookUpOneByOne")(function* (sorting: boolean) {
  const database = yield* Database
  const settings = oneByOne(sorting)
  yield* database.execute(
    "Export.lookUpOneByOne",
    (sql) => sql`
      select set_config(s.name, s.value, true)
      from unnest(${plainArray(sql, Object.keys(settings))}, ${plainArray(sql, Object.values(settings))}) as s (name, value)`,
  )
})
