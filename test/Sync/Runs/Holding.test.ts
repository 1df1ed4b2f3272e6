import { expect, layer } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import { isAwaited, lockOf, nextOf, unlessBusy } from "../../../src/Book/Moment.ts"
import type { Book } from "../../../src/Book.ts"
import { Database } from "../../../src/Database.ts"
import { forAMoment, holding, holdingBooksAMoment } from "../../../src/Sync/Runs/ConnectionLock.ts"
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

  /** Waits until a condition holds; for ever where nobody ever makes it hold. */
  const until = <E, R>(holds: Effect.Effect<boolean, E, R>) =>
    Effect.repeat(Effect.delay(holds, "20 millis"), { until: (so) => so })

  it.effect("comes next, however many rounds of events follow one another", () =>
    Effect.gen(function* () {
      const database = yield* Database
      let [begun, ended] = [0, 0]
      const round = Effect.gen(function* () {
        begun += 1
        yield* until(isAwaited(database, "default"))
        ended += 1
      })
      const events = yield* Effect.fork(Effect.forever(forAMoment(database, "default", round)))
      for (const has of [holding, unlessBusy, holding, unlessBusy]) {
        yield* until(Effect.sync(() => begun > ended))
        const before = begun
        yield* has(
          database,
          "default",
          Effect.sync(() => expect([begun, ended]).toEqual([before, before])),
        )
      }
      yield* Fiber.interrupt(events)
    }),
  )

  it.effect("a backfill has its moments between rounds of events, however many follow one another", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const order: Array<string> = []
      const isNext = Effect.map(database.heldAmong([nextOf("default")]), (held) => held.size > 0)
      const doing = (what: string) =>
        forAMoment(
          database,
          "default",
          Effect.zipRight(
            until(isNext),
            Effect.sync(() => order.push(what)),
          ),
        )
      const events = yield* Effect.fork(Effect.forever(doing("events")))
      yield* until(Effect.map(database.heldAmong([lockOf("default")]), (held) => held.size > 0))
      yield* Effect.repeatN(doing("backfill"), 2)
      yield* Fiber.interrupt(events)
      expect(order.slice(0, 6).join(" ")).toBe("events backfill events backfill events backfill")
    }),
  )

  it.effect("comes next, though workers always have some of its books for a moment", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const bookOf = (bookId: number): Book => ({
        bookId,
        connection: "default",
        clientId: Option.none(),
        code: `B${bookId}`,
        name: `B${bookId}`,
      })
      const worker = (bookId: number) =>
        holdingBooksAMoment(database, "default", [bookOf(bookId)], Effect.sleep("400 millis")).pipe(
          Effect.catchTag("LockBusy", () => Effect.sleep("50 millis")),
          Effect.forever,
          Effect.delay(bookId * 100),
        )
      const workers = yield* Effect.fork(
        Effect.all([1, 2, 3].map(worker), { concurrency: "unbounded", discard: true }),
      )
      yield* Effect.sleep("600 millis")
      const got = yield* holding(database, "default", Effect.succeed("sync")).pipe(
        Effect.timeoutOption("2 minutes"),
      )
      yield* Fiber.interrupt(workers)
      expect(got).toStrictEqual(Option.some("sync"))
    }),
  )
})
