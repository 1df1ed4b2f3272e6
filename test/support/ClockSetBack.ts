import { Duration, Effect } from "effect"
import { changedClock } from "./ChangedClock.ts"

/** Runs an effect under a wall clock that was ahead and is set back by so much; the time that passes is the test's own. */
export const clockSetBack =
  (by: Duration.DurationInput) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.clockWith((clock) =>
      Effect.withClock(effect, changedClock(clock, { ahead: () => -Duration.toMillis(by) })),
    )
