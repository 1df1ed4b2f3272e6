/** What the planner of Postgres may assume during a reconciliation. Each holds for the caller's transaction. */
import { Effect } from "effect"
import { bool } from "../Database/Columns.ts"
import type { Database } from "../Database.ts"

/** Statistics are made anew where a table has this many times the pages that it had when they were made. */
const growth = 4
/** The least number of pages: with fewer rows any plan will do. */
const fewPages = 8

/** A book with fewer entries is read fast by any plan, even by one whose cost grows with their cube. */
export const manyEntries = 20
/** A sample of the usual size, 30,000 rows, includes several rows of a book that owns one row in so many. */
const sampledOf = 2_000

/**
 * A first sync fills tables faster than statistics are made of them. The planner then expects a handful of rows in all, or, where
 * the statistics know a few books alone and another has come since, one row of that book: it reads everything of the book again for
 * each of its rows. Autovacuum never looks at a partitioned table as a whole, and at a partition in the middle of a sync. So
 * statistics are made here, but only in these two cases: every session makes its plans anew after it, which takes longer than the
 * checks of a small book. How much there is, a tenth of the usual sample tells; a book among others is found in a whole one. Part of
 * the transaction.
 */
export const analyze = Effect.fn("Reconcile.analyze")(function* (
  database: Database,
  books: ReadonlyArray<number>,
) {
  const { grown, unknown } = yield* database.row(
    "Reconcile.outdated",
    { grown: bool, unknown: bool },
    (sql) => sql`
      select exists (
        select from unnest(array['mirror.statement_entries', 'mirror.resources', 'ledger.journal_entries']::regclass[]) t
        cross join lateral pg_partition_tree(t) p
        -- One by one: joined, the size of every relation of the database may be asked for.
        cross join lateral (select c.relpages from pg_class c where c.oid = p.relid offset 0) c
        where p.isleaf and pg_relation_size(p.relid) > ${growth}::bigint * current_setting('block_size')::integer
          * greatest(c.relpages, ${fewPages})) as grown,
      exists (
        select from unnest(array['mirror.statement_entries', 'mirror.resources', 'ledger.journal_entries',
          'ledger.postings']::regclass[]) t
        -- Scans are planned by a partition's own statistics, which autovacuum makes, joins by those of the whole table.
        cross join lateral pg_partition_tree(t) p
        join pg_class c on c.oid = p.relid
        join pg_stats s on s.schemaname = c.relnamespace::regnamespace::text and s.tablename = c.relname
          and s.attname = 'book_id' and s.inherited <> p.isleaf
        -- As the accounts count them: by outdated statistics the planner would go through all entries for each book.
        cross join (
          select a.book_id, sum(a.entries) as entries from mirror.accounts a
          where a.book_id = any (${`{${books.join(",")}}`}::integer[]) group by a.book_id) b
        cross join lateral (select greatest(${manyEntries}, (c.reltuples / ${sampledOf})::integer) as least) l
        -- They know all that there was: where they know some, others are taken for as large as each other.
        where (select sum(share) from unnest(s.most_common_freqs) share) > 0.99
          and b.book_id <> all (s.most_common_vals::text::integer[])
          and b.entries >= l.least
          and (not p.isleaf or satisfies_hash_partition(t, (select count(*)::integer from pg_inherits i where i.inhparent = t),
            substring(c.relname from '\\d+$')::integer, b.book_id))
          -- Payouts have no resources: a book may have many entries and nothing here that a sample could find.
          and (t <> 'mirror.resources'::regclass
            or exists (select from mirror.resources r where r.book_id = b.book_id offset l.least - 1))) as unknown`,
  )
  if (!grown && !unknown) return
  if (!unknown) {
    yield* database.execute(
      "Reconcile.sampleLess",
      (sql) => sql`select set_config('default_statistics_target', '10', true)`,
    )
  }
  yield* database.execute(
    "Reconcile.analyze",
    (sql) => sql`
      select ledger.make_statistics(array['mirror.statement_entries', 'mirror.resources', 'mirror.accounts', 'ledger.accounts',
        'ledger.journal_entries', 'ledger.journal_numbers', 'ledger.postings', 'ledger.balances'])`,
  )
})

/** A sync's sessions only probe indexes. The checks read many rows at once, so they leave the choice to the planner. */
export const planFreely = (database: Database) =>
  database.execute(
    "Reconcile.planFreely",
    (sql) => sql`
    select set_config('enable_seqscan', 'on', true), set_config('enable_hashjoin', 'on', true),
      set_config('enable_mergejoin', 'on', true)`,
  )

/** More books than this are read by whole scans rather than each by its own keys. */
export const fewBooks = 50

/** Reads many books at once: a session that only probes indexes would go through a list of all of them for each. */
export const readingMany = <A, E, R>(database: Database, effect: Effect.Effect<A, E, R>) =>
  database.transaction(Effect.zipRight(planFreely(database), effect))

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
        set_config('enable_mergejoin', ${whole}, true)`,
  )
}
