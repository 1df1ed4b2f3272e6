/** No key and no statement of a night crosses books. This allows books to be spread over partitions and servers. */
import { expect, it } from "@effect/vitest"
import { Effect, Layer, Option, Schedule } from "effect"
import { describe } from "vitest"
import { migrate } from "../../src/Database/Migrate.ts"
import { partitionedTables } from "../../src/Database/Migrations/PartitionNames.ts"
import { Database } from "../../src/Database.ts"
import { rows, syncWith, variablesFor } from "../Sync/Runs.ts"
import { settingsFor } from "../support/DatabaseAddress.ts"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

/** Unique indexes of tables with books that do not begin with the book, each with the reason. */
const otherKeys: ReadonlyMap<string, string> = new Map([
  ["mirror.books_code_unique", "one row for each book: codes tell books apart"],
  ["mirror.books_connection_client", "one row for each book: a client is one book"],
  ["mirror.quarantine_pkey", "the number that a person names a row by"],
  ["reconcile.findings_pkey", "the number that a person names a finding by"],
  ["sync.book_events_connection_event_id_digest_pk", "what waits, until a worker has done it"],
  ["sync.book_jobs_run_id_book_id_pk", "what waits, until a worker has done it"],
  ["sync.leases_connection_book_id_pk", "one row for each book, or connection"],
])

/** Scans of each table's partitions by all sessions that have ended: sequential ones, and by an index. */
const looks = rows(`
  select schemaname || '.' || relname as partition, seq_scan::integer as whole, coalesce(idx_scan, 0)::integer as probes
  from pg_stat_user_tables where relid in (select inhrelid from pg_inherits) order by 1`)

const otherSessions = rows(`
  select count(*)::integer as sessions from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`)

/** A session of this test's pool reads the statistics that the others reported before they ended. */
const ended = (before: unknown) =>
  otherSessions.pipe(
    Effect.filterOrFail(
      (now) => JSON.stringify(now) === JSON.stringify(before),
      () => "a session has not ended yet",
    ),
    Effect.retry(Schedule.intersect(Schedule.spaced("50 millis"), Schedule.recurs(200))),
  )

describe("a book", () => {
  it.scopedLive("is the first column of every key", () =>
    Effect.gen(function* () {
      const found = yield* rows(`
        select i.indexrelid::regclass::text as key
        from pg_index i
        join pg_class c on c.oid = i.indrelid and not c.relispartition
        join pg_attribute a on a.attrelid = c.oid and a.attname = 'book_id'
        where i.indisunique and i.indkey[0] <> a.attnum and c.relnamespace::regnamespace::text in
          ('archive', 'export', 'ledger', 'mirror', 'reconcile', 'sync', 'valuation', 'webhook')
        order by 1`)
      expect(found.map(({ key }) => key)).toEqual([...otherKeys.keys()].sort())
      const large = yield* rows(`
        select i.indexrelid::regclass::text as key from pg_index i
        join pg_attribute a on a.attrelid = i.indrelid and a.attname = 'book_id'
        where i.indrelid::regclass::text in ('${partitionedTables.join("', '")}') and i.indisunique
          and i.indkey[0] <> a.attnum`)
      expect(large).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("has nights without news that read only its own partitions", () =>
    Effect.gen(function* () {
      yield* migrate(undefined, 5)
      const { url } = yield* TestDatabase
      const sandbox = yield* runningSandbox({
        clients: 6,
        accountsPerClient: 2,
        clientEntries: 120,
        entries: 60,
      })
      const variables = {
        ...variablesFor(sandbox.url),
        TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, client]}}",
      }
      yield* syncWith(variables)
      // The session reports its statistics at once, for it might otherwise do so after the reset.
      const held = yield* rows(`
        select e.book_id, b.client_id, right(max(e.tableoid::regclass::text), 1) as part,
          pg_stat_force_next_flush() is not null as told
        from mirror.statement_entries e join mirror.books b on b.book_id = e.book_id
        group by e.book_id, b.client_id order by e.book_id desc`)
      const { client_id: client, part } = held[0] ?? {}
      const parts = new Set(held.map((book) => book.part))
      // Otherwise there would be no partition that only a statement without a book reads.
      expect(parts.size).toBeLessThan(5)
      const sessions = yield* otherSessions
      // It runs on sessions of its own, which report their statistics when they end and plan as on an ordinary server.
      const night = syncWith(variables, { client: Option.some(String(client)) }).pipe(
        Effect.provide(Layer.fresh(Database.layer(settingsFor(`${url}?plan_cache_mode=auto`)))),
        Effect.zipLeft(ended(sessions)),
      )
      for (const index of [0, 1, 2, 3, 4, 5]) sandbox.advance(9, index)
      expect((yield* night).counters.entries).toBeGreaterThan(0)
      yield* rows("select pg_stat_reset()")
      expect((yield* night).counters.entries).toBe(0)
      const found = yield* looks
      // Postings are not read at all, because the balances have their sums.
      const own = found.find(({ partition }) => partition === `mirror.statement_entries_${part}`)
      expect(Number(own?.probes)).toBeGreaterThan(0)
      expect(
        found.filter(({ partition, probes, whole }) => {
          const isOfBooks = parts.has(String(partition).slice(-1))
          // One check looks for resources before it knows their book; it finds nothing, by one index scan.
          const allowed = String(partition).startsWith("mirror.resources") ? 1 : 0
          return Number(whole) > 0 || (!isOfBooks && Number(probes) > allowed)
        }),
      ).toEqual([])
    }).pipe(Effect.provide(TestDatabase.blankLayer)),
  )
})
