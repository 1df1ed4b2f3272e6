/** The clock of a test, changed in one thing. */
import { Clock, Duration, Effect } from "effect"

interface Change {
  /** By how many milliseconds the clock on the wall is ahead. */
  readonly ahead: () => number
  /** How many milliseconds more have passed. */
  readonly passed: () => number
  readonly sleep: Clock.Clock["sleep"]
}

export const changedClock = (
  clock: Clock.Clock,
  { ahead = () => 0, passed = () => 0, sleep = (duration) => clock.sleep(duration) }: Partial<Change>,
): Clock.Clock => {
  const millis = () => clock.unsafeCurrentTimeMillis() + ahead()
  const nanos = () => clock.unsafeCurrentTimeNanos() + BigInt(passed()) * 1_000_000n
  return {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    sleep,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanos: Effect.sync(nanos),
    unsafeCurrentTimeMillis: millis,
    unsafeCurrentTimeNanos: nanos,
  }
}

/** Ends waits of exactly these lengths at once, and says so. */
export const skippingWaits = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  lengths: ReadonlyArray<Duration.Duration>,
  onSkip: (wait: Duration.Duration) => void,
): Effect.Effect<A, E, R> =>
  Effect.clockWith((clock) => {
    const sleep: Clock.Clock["sleep"] = (duration) =>
      lengths.some((length) => Duration.equals(length, duration))
        ? Effect.suspend(() => {
            onSkip(duration)
            return Effect.yieldNow()
          })
        : clock.sleep(duration)
    return Effect.withClock(effect, changedClock(clock, { sleep }))
  })
