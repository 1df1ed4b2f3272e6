import { expect, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Database } from "../../../src/Database.ts"
import { forAMoment, holding } from "../../../src/Sync/Runs/ConnectionLock.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

layer(TestDatabase.blankLayer, { excludeTestServices: true })("being alone on a connection", (it) => {
  it.effect("waits for who holds it for a moment, however slowly that one takes it", () =>
    Effect.gen(function* () {
      const database = yield* Database
      // A busy database: some time passes between any two locks.
      const slow = Database.make({
        ...database,
        tryLock: (lock) => Effect.tap(database.tryLock(lock), () => Effect.sleep("200 millis")),
      })
      const events = yield* Effect.fork(
        Effect.repeatN(forAMoment(slow, "default", Effect.sleep("20 millis")), 2),
      )
      const order: Array<string> = []
      yield* Effect.repeatN(
        Effect.zipRight(
          Effect.sleep("90 millis"),
          holding(
            database,
            "default",
            Effect.sync(() => order.push("sync")),
          ),
        ),
        9,
      )
      yield* Fiber.join(events)
      expect(order).toHaveLength(10)
    }),
  )

  it.effect("is refused while a sync holds it, and events wait for that one", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const waiting = yield* holding(
        database,
        "default",
        Effect.gen(function* () {
          const events = yield* Effect.forkDaemon(forAMoment(database, "default", Effect.succeed("read")))
          yield* Effect.sleep("600 millis")
          expect(yield* Effect.flip(holding(database, "default", Effect.void))).toMatchObject({
            _tag: "LockBusy",
            lock: "sync:default",
          })
          expect(yield* Fiber.poll(events)).toMatchObject({ _tag: "None" })
          return events
        }),
      )
      expect(yield* Fiber.join(waiting)).toBe("read")
    }),
  )
})
