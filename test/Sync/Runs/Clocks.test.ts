/** A machine whose clock disagrees with the database's is told so at the beginning of a run. */
import { expect, layer } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { compareClocks } from "../../../src/Run/Clocks.ts"
import { beginRun } from "../../../src/Run.ts"
import { changedClock } from "../../support/ChangedClock.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { credit, partnership } from "../Partnership.ts"
import { sync } from "../Runs.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("a run", (it) => {
  it.scoped("warns of a clock that disagrees with the database's by more than half a minute", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const logger = Logger.make(({ message }) => void said.push(String(message)))
      const clock = yield* Effect.clock
      const begun = Effect.asVoid(beginRun("default", "sync"))
      for (const by of [0, 3_600_000, -120_000]) {
        // A worker begins no run of its own; events begin so many that they say nothing.
        for (const begins of [begun, compareClocks, Effect.asVoid(beginRun("default", "events"))]) {
          yield* begins.pipe(
            Effect.withClock(changedClock(clock, { ahead: () => by, passed: () => by })),
            Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
          )
        }
      }
      const ahead: unknown = expect.stringMatching(/clock is 60 minutes ahead of the database's$/)
      const behind: unknown = expect.stringMatching(/clock is (119 seconds|2 minutes) behind the database's$/)
      expect(said.map((line) => line.split(":")[0])).toEqual([ahead, ahead, behind, behind])
    }),
  )

  it.scoped("takes no less time because the clock is set back meanwhile", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership({ balance: "10.00", statement: [credit(11, "10.00", "10.00")] })
      const clock = yield* Effect.clock
      const { seconds } = yield* sync(service.url).pipe(
        Effect.withClock(changedClock(clock, { ahead: () => (service.calls.length > 1 ? -3_600_000 : 0) })),
      )
      expect(seconds).toBeGreaterThan(0)
      expect(seconds).toBeLessThan(3_600)
    }),
  )
})
