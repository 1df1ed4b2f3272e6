/** Behind a pooler that gives each transaction another session everything works; one without transactions is refused. */
import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Either, Fiber, Stream } from "effect"
import { int4 } from "../../src/Database/Columns.ts"
import { migrate } from "../../src/Database/Migrate.ts"
import { Database } from "../../src/Database.ts"
import { credit, partnership } from "../Sync/Partnership.ts"
import { journal, rows, sync } from "../Sync/Runs.ts"
import { aside } from "../support/aside.ts"
import { settingsFor } from "../support/DatabaseAddress.ts"
import { hasPgbouncer, pgbouncer } from "../support/Pgbouncer.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const behind =
  (url: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.provide(effect, Database.layer(settingsFor(url)))

const backend = (sql: Parameters<Parameters<Database["query"]>[1]>[0]) =>
  sql<[{ pid: number; program: string | null; zone: string }]>`
    select pg_backend_pid() as pid, current_setting('tieout.program', true) as program, current_setting('TimeZone') as zone`

const parallel = Effect.gen(function* () {
  const database = yield* Database
  return yield* Effect.forEach(Array.from({ length: 40 }), () => database.query("Test.pid", backend), {
    concurrency: 5,
  })
}).pipe(Effect.map((found) => found.flat()))

layer(TestDatabase.layer, { excludeTestServices: true })("behind pgbouncer in mode transaction", (it) => {
  it.scoped.skipIf(!hasPgbouncer)(
    "a sync books what it books without it, and a second one at once is refused",
    () =>
      Effect.gen(function* () {
        const { name } = yield* TestDatabase
        const url = yield* pgbouncer(name, "transaction")
        const { held, service } = yield* partnership()
        held.statement = [credit(1, "5.00", "5.00"), credit(2, "7.25", "12.25")]
        held.balance = "12.25"
        const { busy, report, sessions } = yield* Effect.gen(function* () {
          const database = yield* Database
          expect(database.settings.pooled).toBe(true)
          const report = yield* sync(service.url)
          const busy = yield* database.withSessionLock("sync:default", Effect.flip(sync(service.url)))
          return { busy, report, sessions: yield* parallel }
        }).pipe(behind(url))
        expect([report.counters.entries, report.blockingFindings]).toEqual([2, 0])
        expect(busy._tag).toBe("SyncBusy")
        expect(new Set(sessions.map(({ pid }) => pid)).size).toBeGreaterThan(1)
        expect(new Set(sessions.map(({ program, zone }) => `${program} ${zone}`))).toEqual(
          new Set(["on UTC"]),
        )
        // The books are read and proved again without the pooler.
        expect((yield* sync(service.url, {}, true)).counters.journalEntries).toBe(0)
        expect(yield* journal).toHaveLength(4)
      }),
  )

  it.scoped.skipIf(!hasPgbouncer)(
    "nobody else's transaction gets our settings, and a long answer is streamed",
    () =>
      Effect.gen(function* () {
        const { name } = yield* TestDatabase
        const url = yield* pgbouncer(
          name,
          "transaction",
          "ignore_startup_parameters = tieout.program, search_path, idle_in_transaction_session_timeout, tcp_keepalives_idle, tcp_keepalives_interval, tcp_keepalives_count, jit, max_parallel_workers_per_gather, bytea_output, array_nulls, default_transaction_isolation",
        )
        yield* Effect.gen(function* () {
          const database = yield* Database
          expect(database.settings.pooled).toBe(true)
          yield* parallel
          const plain = yield* Effect.forEach(Array.from({ length: 20 }), () => aside(backend))
          expect(new Set(plain.flat().map(({ program }) => program ?? ""))).toEqual(new Set([""]))
          let sum = 0
          yield* database
            .rowStream(
              "Test.stream",
              { n: int4 },
              (sql) => sql`select n from generate_series(1, ${5_000}::int) n`,
              { size: 100 },
            )
            .pipe(
              Stream.runForEach(({ n }) =>
                Effect.sync(() => {
                  sum += n
                }),
              ),
            )
          expect(sum).toBe(12_502_500)
        }).pipe(behind(url))
      }),
  )

  it.scoped.skipIf(!hasPgbouncer)("a pool that is too small is named where it may be the reason", () =>
    Effect.gen(function* () {
      const { name } = yield* TestDatabase
      const url = yield* pgbouncer(name, "session", "query_wait_timeout = 1\nmax_db_connections = 1")
      const error = yield* Effect.gen(function* () {
        const database = yield* Database
        return yield* database.withSessionLock(
          "sync default",
          Effect.flip(database.query("Test.pid", backend)),
        )
      }).pipe(behind(url))
      expect(error).toMatchObject({ reason: "Unreachable" })
      expect(error.message).toContain("query_wait_timeout: its pool is too small")
    }),
  )

  it.scoped.skipIf(!hasPgbouncer)("a lock ends with its holder's connection", () =>
    Effect.gen(function* () {
      const { name } = yield* TestDatabase
      const url = yield* pgbouncer(name, "transaction")
      const held = yield* Deferred.make<void>()
      const holder = yield* Effect.gen(function* () {
        const database = yield* Database
        return yield* database.withSessionLock(
          "sync default",
          Effect.zipRight(Deferred.succeed(held, undefined), Effect.never),
        )
      }).pipe(behind(url), Effect.fork)
      yield* Deferred.await(held)
      yield* Effect.gen(function* () {
        const database = yield* Database
        expect(yield* Effect.flip(database.withSessionLock("sync default", Effect.void))).toMatchObject({
          _tag: "LockBusy",
        })
        yield* rows(`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'
          and database = (select oid from pg_database where datname = current_database())`)
        expect(yield* Effect.flip(Fiber.join(holder))).toMatchObject({ reason: "Unreachable" })
        yield* database.withSessionLock("sync default", Effect.void)
      })
    }),
  )
})

layer(TestDatabase.blankLayer, { excludeTestServices: true })("an empty database", (it) => {
  it.scoped.skipIf(!hasPgbouncer)("is migrated through pgbouncer, by many at once", () =>
    Effect.gen(function* () {
      const { name } = yield* TestDatabase
      const url = yield* pgbouncer(name, "transaction")
      const done = yield* Effect.all(
        Array.from({ length: 3 }, () => migrate().pipe(behind(url))),
        { concurrency: "unbounded" },
      )
      expect(done.filter((names) => names.length > 0)).toHaveLength(1)
    }),
  )

  it.scoped.skipIf(!hasPgbouncer)(
    "modes that keep no session for a transaction are refused, session mode is taken",
    () =>
      Effect.gen(function* () {
        const { name } = yield* TestDatabase
        const refused = yield* Effect.either(
          Effect.asVoid(Database).pipe(behind(yield* pgbouncer(name, "statement"))),
        )
        const error = Either.getOrThrow(Either.flip(refused))
        expect(error.reason).toBe("Settings")
        expect(error.message).toContain("pool_mode = transaction")
        const pooled = yield* Effect.map(Database, ({ settings }) => settings.pooled).pipe(
          behind(yield* pgbouncer(name, "session")),
        )
        expect(pooled).toBe(true)
      }),
  )
})
