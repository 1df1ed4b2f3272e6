import { Clock, Duration, Effect } from "effect"

/** Runs an effect under a wall clock that was ahead and is set back by so much; the time that passes is the test's own. */
export const clockSetBack =
  (by: Duration.DurationInput) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.clockWith((clock) => {
      const unsafeCurrentTimeMillis = () => clock.unsafeCurrentTimeMillis() - Duration.toMillis(by)
      return Effect.withClock(effect, {
        [Clock.ClockTypeId]: Clock.ClockTypeId,
        unsafeCurrentTimeMillis,
        currentTimeMillis: Effect.sync(unsafeCurrentTimeMillis),
        unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos(),
        currentTimeNanos: clock.currentTimeNanos,
        sleep: (duration) => clock.sleep(duration),
      })
    })
