/** Full checks are planned by the real size of the tables, even where no sync has made statistics. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { int4 } from "../../src/Database/Columns.ts"
import { Database } from "../../src/Database.ts"
import { openItems } from "../../src/Reconcile/Checks/OpenItemsAddUp.ts"
import { analyze, planFreely } from "../../src/Reconcile/Planning.ts"
import { settingsScope } from "../../src/Reconcile/ReconcileScope.ts"
import { Settings } from "../../src/Settings.ts"
import { client, clientId, lending, move } from "../Sync/Lending.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { rowsTouched } from "../support/RowsTouched.ts"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"

const surfaces = { TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, client]}}" }

/** The number of a table's rows for each book, and the number that the planner expects. */
const expected = (table: string) =>
  Effect.gen(function* () {
    const books = yield* rows(`
      select b.code, b.book_id as id, count(t)::integer as has from mirror.books b left join ${table} t using (book_id)
      group by 1, 2 order by 1`)
    return yield* Effect.forEach(books, ({ code, has, id }) =>
      Effect.map(rows(`explain select from ${table} where book_id = ${id}`), ([plan]) => {
        const [, expects] = /rows=(\d+)/.exec(String(plan?.["QUERY PLAN"])) ?? []
        return { code, has: Number(has), expects: Number(expects) }
      }),
    )
  })

/** The number of a table's pages in the statistics, over all partitions. */
const pagesOf = (table: string) =>
  rows(`
    select sum(greatest(0, c.relpages)) as pages
    from pg_partition_tree('${table}') p join pg_class c on c.oid = p.relid where p.isleaf`)

const pages = pagesOf("mirror.resources")

const analyzed = Effect.flatMap(Database, (database) => database.transaction(analyze(database, [])))

layer(TestDatabase.layer, { excludeTestServices: true })("statistics before a check of everything", (it) => {
  it.scoped("are made once the tables have grown a lot, and not of a small book", () =>
    Effect.gen(function* () {
      const sandbox = yield* runningSandbox({ entries: 60 })
      yield* sync(sandbox.url)
      const before = yield* pages
      yield* analyzed
      expect(yield* pages).toEqual(before)
      yield* unruled(
        `insert into mirror.resources
         select (jsonb_populate_record(r, jsonb_build_object('resource_id', gen_random_uuid()))).*
         from mirror.resources r, generate_series(1, 200)`,
      )
      yield* analyzed
      const [after] = yield* pages
      expect(Number(after?.pages)).toBeGreaterThan(4 * 8)
    }),
  )

  it.scoped(
    "are made once the journal has grown a lot, as receivables make it grow without any statement",
    () =>
      Effect.gen(function* () {
        yield* unruled(`
        insert into ledger.journal_entries (book_id, entry_id, occurred_at, effective_date, run_id, line_count, source_type, source_id,
          kind, description)
        select 1, 1000000 + n, '2026-10-05', '2026-10-05', 1, 2, 'receivable_version', md5(n::text)::uuid, 'accrual', ''
        from generate_series(1, 5000) n`)
        yield* analyzed
        const [after] = yield* pagesOf("ledger.journal_entries")
        expect(Number(after?.pages)).toBeGreaterThan(4 * 8)
      }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("know of every book that a first sync brings, whichever of them were read last", () =>
    Effect.gen(function* () {
      const sandbox = yield* runningSandbox({ entries: 400, clients: 2, clientEntries: 60 })
      yield* sync(sandbox.url, surfaces)
      for (const table of ["mirror.statement_entries", "ledger.journal_entries", "ledger.postings"]) {
        for (const { code, expects, has } of yield* expected(table)) {
          expect(has, `${table} has rows of ${code}`).toBeGreaterThan(25)
          expect(expects, `${table}, ${code}, which has ${has}`).toBeGreaterThan(has / 4)
        }
      }
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("know of a book whose first entries come with a later sync", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1)] })
      for (let at = 0; at < 300; at++) move(held, "", { type: "CREDIT", amount: 1 })
      yield* sync(service.url, surfaces)
      for (let at = 0; at < 120; at++) move(held, clientId(1), { type: "CREDIT", amount: 1 })
      yield* sync(service.url, surfaces)
      const found = yield* expected("ledger.journal_entries")
      expect(found).toEqual([
        { code: "C1", has: 120, expects: 120 },
        { code: "ORG", has: 300, expects: 300 },
      ])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped(
    "know of such a book where autovacuum has looked at the partition, and knows more books than they do",
    () =>
      Effect.gen(function* () {
        const known = Array.from({ length: 12 }, (_, at) => at + 1)
        const { held, service } = yield* lending({ clients: [...known, 13].map((one) => client(one)) })
        for (const one of known)
          for (let at = 0; at < 30; at++) move(held, clientId(one), { type: "CREDIT", amount: 1 })
        yield* sync(service.url, surfaces)
        // As a sync makes them while it reads, by a small sample.
        for (const table of [
          "mirror.statement_entries",
          "mirror.resources",
          "ledger.journal_entries",
          "ledger.postings",
        ])
          yield* rows(`alter table only ${table} alter book_id set statistics 5`)
        yield* rows("analyze")
        for (let at = 0; at < 120; at++) move(held, clientId(13), { type: "CREDIT", amount: 1 })
        yield* sync(service.url, surfaces)
        for (const table of ["mirror.statement_entries", "ledger.journal_entries"]) {
          const [last] = (yield* expected(table)).filter(({ code }) => code === "C13")
          expect(last, table).toEqual({ code: "C13", has: 120, expects: 120 })
        }
      }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("are judged without going through a large book for each small one", () =>
    Effect.gen(function* () {
      const clients = [1, 2, 3, 4, 5]
      const { held, service } = yield* lending({ clients: clients.map((one) => client(one)) })
      for (let at = 0; at < 300; at++) move(held, "", { type: "CREDIT", amount: 1 })
      yield* sync(service.url, surfaces)
      for (const one of clients) move(held, clientId(one), { type: "CREDIT", amount: 1 })
      yield* sync(service.url, surfaces)
      const books = yield* rows("select book_id from mirror.books")
      const database = yield* Database
      const read = Effect.map(
        rows(`
          select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::integer as rows from pg_stat_xact_user_tables
          where schemaname = 'mirror'`),
        ([all]) => Number(all?.rows),
      )
      const gone = yield* database.transaction(
        Effect.gen(function* () {
          yield* planFreely(database)
          const before = yield* read
          yield* analyze(
            database,
            books.map(({ book_id: id }) => Number(id)),
          )
          return (yield* read) - before
        }),
      )
      expect(gone).toBeLessThan(300)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a large book among many small ones", (it) => {
  it.scoped(
    "has its open items read without a look at each pair of its entries",
    () =>
      Effect.gen(function* () {
        const entries = 6_000
        const sandbox = yield* runningSandbox({ entries, clients: 60, receivables: 20 })
        yield* sync(sandbox.url, surfaces)
        yield* rows("analyze")
        const settings = yield* Effect.provide(
          Effect.map(Settings, settingsScope),
          Settings.from({ variables: surfaces }),
        )
        const books = (yield* rows("select book_id as id from mirror.books")).map(({ id }) => Number(id))
        const scope = { ...settings, books, sinceRun: null, period: null, full: true, runId: null }
        const differing = Effect.flatMap(Database, (database) =>
          database.row(
            "Test.found",
            { count: int4 },
            (sql) => sql`select count(*)::integer as count from (${openItems.found(sql, scope)}) f`,
          ),
        )
        expect(yield* differing).toEqual({ count: 0 })
        expect(yield* rowsTouched(differing)).toBeLessThan(entries ** 2 / 10)
      }),
    120_000,
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("many books of one size", (it) => {
  it.scoped(
    "have their open items read without a look at each pair of a book's entries",
    () =>
      Effect.gen(function* () {
        const entries = 8_000
        const sandbox = yield* runningSandbox({
          entries: 0,
          clients: 44,
          accountsPerClient: 2,
          clientEntries: entries,
        })
        yield* sync(sandbox.url, surfaces)
        yield* rows("analyze")
        const books = yield* rows("select book_id as id from mirror.books where client_id is not null")
        const touched = yield* Effect.forEach(books, ({ id }) =>
          rowsTouched(
            Effect.flatMap(Database, (database) =>
              database.row(
                "Test.items",
                { count: int4 },
                (sql) =>
                  sql`select count(*)::integer as count from ledger.open_items(${Number(id)}::integer)`,
              ),
            ),
          ),
        )
        expect(touched.reduce((sum, of) => sum + of, 0)).toBeLessThan(100 * entries)
      }),
    120_000,
  )
})
