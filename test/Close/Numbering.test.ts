/** A close, an export and a report number what waits before they begin. That takes a moment, and is no sync. */
import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { Database } from "../../src/Database.ts"
import { credit, partnership } from "../Sync/Partnership.ts"
import { sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { someoneWaits } from "./LockWait.ts"
import { closing } from "./Months.ts"

/** Has the effect begin while a close numbers what waits, and lets that go on a little later. */
const besideNumbering = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
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
    const other = yield* Effect.fork(effect)
    yield* Effect.sleep("500 millis")
    yield* Deferred.succeed(go, undefined)
    yield* Fiber.join(holding)
    yield* Fiber.join(first)
    return yield* Fiber.join(other)
  })

const begun = Effect.gen(function* () {
  const { service } = yield* partnership({ balance: "10.00", statement: [credit(11, "10.00", "10.00")] })
  yield* sync(service.url)
  return service.url
})

layer(TestDatabase.layer, { excludeTestServices: true })("numbering before a close", (it) => {
  it.scoped("keeps no sync from running: it waits for that moment", () =>
    Effect.gen(function* () {
      const url = yield* begun
      expect((yield* besideNumbering(sync(url))).counters.entries).toBe(0)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("is no sync to another close, which waits as well", () =>
    Effect.gen(function* () {
      yield* begun
      const [book] = yield* besideNumbering(closing("2026-10", { dryRun: true }))
      expect(book?.notes.filter((note) => note.includes("sync"))).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
