/** Which journal an export reads. Their views have the same columns, so that everything else reads them alike. */
import { Effect } from "effect"
import type { Sql } from "../../Database/Client.ts"
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
 * From here on, the transaction looks entries up one by one, along the index of numbers: that needs no memory, does not grow
 * with the rest of the ledger, and was faster than hashing and sorting it (1M postings: 5.7 s against 7.2 s). The planner would
 * prefer the latter, so it is switched off here. Materializing is switched off, too: the planner takes tables without
 * statistics, as after a first sync, to be small, and would reread a materialized result from its beginning for every entry.
 * `sorting`: the entries are not read in the index's order.
 */
export const lookUpOneByOne = Effect.fn("Export.lookUpOneByOne")(function* (sorting: boolean) {
  const database = yield* Database
  yield* database.execute(
    "Export.lookUpOneByOne",
    (sql) => sql`
      select set_config('enable_sort', ${sorting ? "on" : "off"}, true), set_config('enable_hashjoin', 'off', true),
        set_config('enable_mergejoin', 'off', true), set_config('enable_seqscan', 'off', true),
        set_config('enable_memoize', 'off', true), set_config('enable_material', 'off', true),
        set_config('jit', 'off', true), set_config('max_parallel_workers_per_gather', '0', true),
        set_config('plan_cache_mode', 'force_custom_plan', true)`,
  )
})
