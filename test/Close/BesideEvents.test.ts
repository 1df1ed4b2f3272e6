/** A round of events stores an account's balance before it reads the statement that belongs to it. */
import { expect, layer } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import { lockOf } from "../../src/Book/Moment.ts"
import { Database } from "../../src/Database.ts"
import { forAMoment } from "../../src/Sync/Runs/ConnectionLock.ts"
import { sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { closing, threeMonths } from "./Months.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("a close beside rounds of events", (it) => {
  it.scoped("takes no balance for a difference whose statement is about to be read", () =>
    Effect.gen(function* () {
      const { service } = yield* threeMonths
      yield* sync(service.url)
      const database = yield* Database
      const balance = (change: string) =>
        database.query("Test.balance", (sql) =>
          sql.unsafe(`update mirror.accounts set balance = balance + ${change}, balance_read_at = now()`),
        )
      const round = Effect.acquireUseRelease(
        balance("5"),
        () => Effect.sleep("300 millis"),
        () => Effect.orDie(balance("-5")),
      )
      const events = yield* Effect.fork(Effect.forever(forAMoment(database, "default", round)))
      yield* Effect.repeat(database.heldAmong([lockOf("default")]), { until: (held) => held.size > 0 })
      for (let times = 0; times < 3; times++)
        expect(yield* closing("2026-08", { dryRun: true })).toMatchObject([
          { state: "closable", blockers: [] },
        ])
      expect(yield* closing("2026-08")).toMatchObject([{ state: "closed" }])
      expect(yield* Fiber.poll(events)).toStrictEqual(Option.none())
      yield* Fiber.interrupt(events)
    }),
  )
})
