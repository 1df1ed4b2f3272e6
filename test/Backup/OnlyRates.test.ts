import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { restore } from "../../src/Backup/Restore.ts"
import { backup } from "../../src/Backup.ts"
import { migrate } from "../../src/Database/Migrate.ts"
import { Database } from "../../src/Database.ts"
import { rows } from "../Sync/Runs.ts"
import { program } from "../support/Program.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

it.scopedLive("a backup does not replace the rates of a database that has no books yet", () =>
  Effect.gen(function* () {
    const folder = temporaryFolder()
    const file = join(folder, "tieout.gz")
    yield* Effect.zipRight(migrate(), backup(file)).pipe(Effect.provide(TestDatabase.layer))
    const csv = join(folder, "rates.csv")
    writeFileSync(csv, "date,from,to,rate,source\n2026-09-30,EUR,USD,1.1,ECB\n")
    yield* Effect.gen(function* () {
      const { run } = yield* program
      const { url } = yield* TestDatabase
      const environment = { DATABASE_URL: url, TIEOUT_LOG_LEVEL: "none" }
      expect(yield* run(["migrate"], environment)).toMatchObject({ code: 0 })
      expect(yield* run(["rates", "import", csv], environment)).toMatchObject({ code: 0, error: "" })
      const { code, error } = yield* run(["restore", file], environment)
      expect([code, error]).toEqual([2, expect.stringContaining("holds exchange rates")])
      expect(yield* rows("select rate::text from valuation.rates")).toEqual([{ rate: "1.1" }])
    }).pipe(Effect.provide(TestDatabase.layer))
  }),
)

it.scopedLive("nor those that somebody imports while it is restored", () =>
  Effect.gen(function* () {
    const file = join(temporaryFolder(), "tieout.gz")
    yield* Effect.zipRight(migrate(), backup(file)).pipe(Effect.provide(TestDatabase.layer))
    yield* Effect.gen(function* () {
      const database = yield* Database
      yield* migrate()
      const written = yield* Deferred.make<void>()
      const importing = yield* database
        .transaction(
          Effect.gen(function* () {
            yield* database.execute(
              "Test.import",
              (sql) => sql`insert into valuation.rate_imports (version) values (1)`,
            )
            yield* database.execute(
              "Test.rates",
              (sql) => sql`
                insert into valuation.rates (date, from_currency, to_currency, version, rate, source)
                values ('2026-09-30', 'EUR', 'USD', 1, 1.1, 'ECB')`,
            )
            yield* Deferred.succeed(written, undefined)
            // Until the restore waits for this transaction, or is through.
            yield* rows("select count(*)::integer as n from pg_locks where not granted").pipe(
              Effect.delay("100 millis"),
              Effect.repeat({ until: ([row]) => row?.n !== 0, times: 100 }),
            )
          }),
        )
        .pipe(Effect.fork)
      yield* Deferred.await(written)
      const failure = yield* Effect.flip(restore(file))
      yield* Fiber.join(importing)
      expect(failure.message).toContain("holds exchange rates already")
      expect(yield* rows("select rate::text from valuation.rates")).toEqual([{ rate: "1.1" }])
    }).pipe(Effect.provide(TestDatabase.layer))
  }),
)

it.scopedLive("one that was stopped while it proved what it had loaded is not begun again, but proved", () =>
  Effect.gen(function* () {
    const file = join(temporaryFolder(), "tieout.gz")
    const loaded = Effect.gen(function* () {
      yield* migrate()
      yield* rows("insert into sync.runs (connection, command) values ('default', 'sync') returning run_id")
    })
    yield* Effect.zipRight(loaded, backup(file)).pipe(Effect.provide(TestDatabase.layer))
    yield* Effect.gen(function* () {
      yield* restore(file)
      const { message } = yield* Effect.flip(restore(file))
      expect(message).toContain("prove it by tieout verify --database")
    }).pipe(Effect.provide(TestDatabase.layer))
  }),
)

it.scopedLive(
  "one that was stopped before it loaded anything leaves the number of partitions, and says so",
  () =>
    Effect.gen(function* () {
      const file = join(temporaryFolder(), "tieout.gz")
      yield* Effect.zipRight(migrate(), backup(file)).pipe(Effect.provide(TestDatabase.layer))
      yield* Effect.gen(function* () {
        yield* migrate(undefined, 3)
        const { message } = yield* Effect.flip(restore(file, { partitions: 5 }))
        expect(message).toContain(
          "The database is empty, but its tables have 3 partitions already, not 5. Name",
        )
        yield* restore(file)
      }).pipe(Effect.provide(TestDatabase.blankLayer))
    }),
)
