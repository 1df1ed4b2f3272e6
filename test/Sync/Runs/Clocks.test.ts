/** A machine whose clock disagrees with the database's is told so at the beginning of a run. */
import { expect, layer } from "@effect/vitest"
import { Clock, Effect, Logger } from "effect"
import { compareClocks } from "../../../src/Run/Clocks.ts"
import { beginRun } from "../../../src/Run.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

/** The system's clock, so many milliseconds ahead. */
const shifted = (clock: Clock.Clock, by: number): Clock.Clock => ({
  [Clock.ClockTypeId]: Clock.ClockTypeId,
  unsafeCurrentTimeMillis: () => clock.unsafeCurrentTimeMillis() + by,
  unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos() + BigInt(by) * 1_000_000n,
  currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + by),
  currentTimeNanos: Effect.map(clock.currentTimeNanos, (now) => now + BigInt(by) * 1_000_000n),
  sleep: clock.sleep,
})

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
            Effect.withClock(shifted(clock, by)),
            Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
          )
        }
      }
      const ahead: unknown = expect.stringMatching(/clock is 60 minutes ahead of the database's$/)
      const behind: unknown = expect.stringMatching(/clock is (119 seconds|2 minutes) behind the database's$/)
      expect(said.map((line) => line.split(":")[0])).toEqual([ahead, ahead, behind, behind])
    }),
  )
})
