/** What the planner of Postgres may assume during a reconciliation. Each holds for the caller's transaction. */
import { Effect } from "effect"
import { text } from "../Database/Columns.ts"
import type { Database } from "../Database.ts"

/** Statistics are made anew where a table has this many times the pages that it had when they were made. */
const growth = 4
/** As many pages, at least: with so few rows any plan will do. */
const fewPages = 8

/**
 * After a first sync the planner has no statistics yet: it would plan for a handful of rows. A tenth of the usual sample is
 * enough for that. Only where the tables have grown a lot since they were looked at: every session makes all its plans of
 * them anew after it, which takes longer than the checks of a small book. Part of the transaction.
 */
export const analyze = Effect.fn("Reconcile.analyze")(function* (database: Database) {
  const grown = yield* database.rows(
    "Reconcile.grown",
    { table: text },
    (sql) => sql`
      select p.relid::regclass::text as table
      from unnest(array['mirror.statement_entries', 'mirror.resources']::regclass[]) t
      cross join lateral pg_partition_tree(t) p
      -- One by one: joined, the size of every relation of the database may be asked for.
      cross join lateral (select c.relpages from pg_class c where c.oid = p.relid offset 0) c
      where p.isleaf and pg_relation_size(p.relid) > ${growth}::bigint * current_setting('block_size')::integer
        * greatest(c.relpages, ${fewPages})`,
  )
  if (grown.length === 0) return
  yield* database.execute(
    "Reconcile.sampleLess",
    (sql) => sql`select set_config('default_statistics_target', '10', true)`,
  )
  yield* database.execute(
    "Reconcile.analyze",
    (sql) => sql`analyze mirror.statement_entries, mirror.resources`,
  )
})

/** A sync's sessions only probe indexes; the checks read many rows at once and leave the choice to the planner. */
export const planFreely = (database: Database) =>
  database.execute(
    "Reconcile.planFreely",
    (sql) => sql`
    select set_config('enable_seqscan', 'on', true), set_config('enable_hashjoin', 'on', true),
      set_config('enable_mergejoin', 'on', true)`,
  )

/**
 * Part of the transaction. A check of everything is fastest with whole scans; a check of what changed must use index probes
 * alone, however long the history is. The session may be set for either.
 */
export const plan = (database: Database, everything: boolean) => {
  const whole = everything ? "on" : "off"
  return database.execute(
    "Reconcile.plan",
    (sql) => sql`
      select set_config('enable_seqscan', ${whole}, true), set_config('enable_hashjoin', ${whole}, true),
        set_config('enable_mergejoin', ${whole}, true), set_config('jit', 'off', true)`,
  )
}
