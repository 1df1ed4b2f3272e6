import { fileURLToPath } from "node:url"
import { expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { rows } from "../Sync/Runs.ts"
import { program } from "../support/Program.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const first = fileURLToPath(new URL("../Database/frozen/0.1.0.gz", import.meta.url))

const isLoaded = Effect.gen(function* () {
  const [made] = yield* rows("select to_regclass('ledger.postings') is not null as made")
  if (made?.made !== true) return false
  const [found] = yield* rows("select exists (select from ledger.postings) as loaded")
  return found?.loaded === true
})

const endOthers = rows(
  "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
)

it.scopedLive("an outage after the load names the proof as what is left, not the restore", () =>
  Effect.gen(function* () {
    const { start } = yield* program
    const { url } = yield* TestDatabase
    const restoring = yield* Effect.fork(start(["restore", first], { DATABASE_URL: url }))
    yield* Effect.repeat(Effect.delay(isLoaded, "20 millis"), { until: (loaded) => loaded })
    const ending = yield* Effect.fork(Effect.forever(Effect.delay(endOthers, "20 millis")))
    const { code, error } = yield* Fiber.join(restoring)
    yield* Fiber.interrupt(ending)
    expect(code).toBe(75)
    expect(error).toContain("the whole backup is loaded, run tieout verify --database")
    expect(error).not.toContain("run the command again")
  }).pipe(Effect.provide(TestDatabase.blankLayer)),
)
