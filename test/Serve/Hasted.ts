/** A clock on which the waits during an outage end at once. */
import { Clock, Duration, Effect } from "effect"

/** The waits during an outage, in minutes: nothing else waits as long, and no test does. */
export const waits = [1, 2, 4, 8, 15]

export const hasted = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  waited: Array<number>,
): Effect.Effect<A, E, R> =>
  Effect.clockWith((clock) => {
    const sleep: Clock.Clock["sleep"] = (duration) => {
      const minutes = Duration.toMinutes(duration)
      if (!waits.includes(minutes)) return clock.sleep(duration)
      waited.push(minutes)
      return Effect.yieldNow()
    }
    return Effect.withClock(effect, {
      [Clock.ClockTypeId]: Clock.ClockTypeId,
      sleep,
      currentTimeMillis: clock.currentTimeMillis,
      currentTimeNanos: clock.currentTimeNanos,
      unsafeCurrentTimeMillis: () => clock.unsafeCurrentTimeMillis(),
      unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos(),
    })
  })
