/** A night in which the database is away, or fails over to another server, also ends by itself. */
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger } from "effect"
import { describe } from "vitest"
import { Database } from "../../src/Database.ts"
import { Alerts } from "../../src/Serve/Alerts.ts"
import { Nightly } from "../../src/Serve/Nightly.ts"
import { Settings } from "../../src/Settings.ts"
import { Sync } from "../../src/Sync.ts"
import { credit, partnership } from "../Sync/Partnership.ts"
import { rows, variablesFor } from "../Sync/Runs.ts"
import { settingsFor } from "../support/DatabaseAddress.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { hasted } from "./Hasted.ts"

/** A night on connections of its own; `waited` records its waits while the database is away. */
const night = (url: string, waited: Array<number>, variables: Record<string, string> = {}) => {
  const lines: Array<string> = []
  const logger = Logger.make(({ message }) => void lines.push(String(message)))
  return Effect.gen(function* () {
    const { url: address } = yield* TestDatabase
    yield* hasted(
      Effect.flatMap(Nightly, ({ run }) => run({ due: Date.now(), isMissed: false })),
      waited,
    ).pipe(
      Effect.provide(
        Nightly.Default.pipe(
          Layer.provide(Layer.merge(Alerts.Default, Sync.Default)),
          Layer.provideMerge(Settings.from({ variables: { ...variablesFor(url), ...variables } })),
          Layer.provide(Database.layer(settingsFor(address))),
          Layer.provideMerge(Logger.replace(Logger.defaultLogger, logger)),
        ),
      ),
    )
    return lines
  })
}

const onEachSession = (setting: string) =>
  Effect.flatMap(TestDatabase, ({ name }) => rows(`alter database ${name} set ${setting}`))

const until = (waited: Array<number>, times: number) =>
  Effect.repeat(Effect.sleep("5 millis"), { until: () => waited.length >= times })

describe("a night in which the database is away", () => {
  it.scopedLive(
    "is done again where the database could only be read for a while, though no session of that time ended",
    () =>
      Effect.gen(function* () {
        const { held, service } = yield* partnership()
        held.statement = [credit(1, "5.00", "5.00")]
        held.balance = "5.00"
        yield* onEachSession("default_transaction_read_only = on")
        const waited: Array<number> = []
        const running = yield* Effect.fork(night(service.url, waited))
        yield* Effect.raceFirst(until(waited, 2), Fiber.join(running))
        yield* rows(
          "begin; set transaction read write; do $$ begin execute format('alter database %I reset all', current_database()); end $$; commit",
        )
        const lines = yield* Fiber.join(running)
        expect(waited.length).toBeGreaterThanOrEqual(2)
        expect(lines.filter((line) => line.startsWith("Alert"))).toHaveLength(1)
        expect(yield* rows("select amount::text from mirror.statement_entries")).toEqual([{ amount: "5.00" }])
      }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("is done again where the database's disk was full for a while, with one alert", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership()
      held.statement = [credit(1, "5.00", "5.00")]
      held.balance = "5.00"
      yield* rows(`create function sync.disk_is_full() returns trigger language plpgsql as $$
        begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`)
      yield* rows(
        "create trigger disk_is_full before insert on mirror.statement_entries for each statement execute function sync.disk_is_full()",
      )
      const waited: Array<number> = []
      const running = yield* Effect.fork(night(service.url, waited))
      yield* Effect.raceFirst(until(waited, 2), Fiber.join(running))
      yield* rows("drop trigger disk_is_full on mirror.statement_entries")
      const lines = yield* Fiber.join(running)
      expect(waited.length).toBeGreaterThanOrEqual(2)
      expect(lines.filter((line) => line.startsWith("Alert"))).toEqual([
        expect.stringContaining("failed (the database's disk is full: make room"),
      ])
      expect(yield* rows("select amount::text from mirror.statement_entries")).toEqual([{ amount: "5.00" }])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("exports later what could not be exported at once, with one alert", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership()
      held.statement = [credit(1, "5.00", "5.00")]
      held.balance = "5.00"
      const out = temporaryFolder()
      yield* onEachSession("lock_timeout = '50ms'")
      const { query, transaction } = yield* Database
      const here = yield* TestDatabase
      const waited: Array<number> = []
      // Another transaction holds the tables of exports until the export has been tried again.
      const running = yield* transaction(
        Effect.gen(function* () {
          yield* query("Test.lock", (sql) => sql`lock table export.batches in share mode`)
          const begun = yield* Effect.forkDaemon(
            night(service.url, waited, {
              TIEOUT_SCHEDULE_EXPORT: "[journal]",
              TIEOUT_SCHEDULE_OUT: out,
            }).pipe(Effect.provideService(TestDatabase, here)),
          )
          yield* Effect.raceFirst(until(waited, 1), Fiber.join(begun))
          return begun
        }),
      )
      const lines = yield* Fiber.join(running)
      expect(lines.filter((line) => line.startsWith("Alert"))).toEqual([
        expect.stringContaining("The export of connection default failed"),
      ])
      expect(readdirSync(join(out, "default-ORG"))).toHaveLength(1)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
