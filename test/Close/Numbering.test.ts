/** A close, an export and a report number what waits before they begin. That takes a moment, and is no sync. */
import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { Database } from "../../src/Database.ts"
import { credit, partnership } from "../Sync/Partnership.ts"
import { sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { someoneWaits } from "./LockWait.ts"
import { closing } from "./Months.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("numbering before a close", (it) => {
  it.scoped("keeps no sync from running: it waits for that moment, as does another close", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership({ balance: "10.00", statement: [credit(11, "10.00", "10.00")] })
      yield* sync(service.url)
      const database = yield* Database
      const locked = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const holding = yield* Effect.fork(
        database.transaction(
          Effect.gen(function* () {
            yield* database.query("Test.lock", (sql) => sql`select 1 from ledger.locks for update`)
            yield* Deferred.succeed(locked, undefined)
            yield* Deferred.await(go)
          }),
        ),
      )
      yield* Deferred.await(locked)
      const first = yield* Effect.fork(closing("2026-10"))
      yield* someoneWaits
      const another = yield* Effect.fork(closing("2026-10", { dryRun: true }))
      const run = yield* Effect.fork(sync(service.url))
      yield* Effect.sleep("1 second")
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(holding)
      yield* Fiber.join(first)
      const [book] = yield* Fiber.join(another)
      expect(book?.notes.filter((note) => note.includes("sync"))).toEqual([])
      expect((yield* Fiber.join(run)).counters.entries).toBe(0)
    }),
  )
})
