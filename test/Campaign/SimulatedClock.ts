/** The connector's clock shows the history's time, or another where the machine's clock is wrong. Waits are real but shorter, so that polling continues. */
import { Clock, Duration, Effect } from "effect"

/** Waits are so many times shorter. */
const faster = 20

/** Shows `millis`, epoch milliseconds, which only a history's steps move. */
export const simulated = (millis: () => number): Clock.Clock => {
  const nanos = (): bigint => BigInt(millis()) * 1_000_000n
  return {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: millis,
    unsafeCurrentTimeNanos: nanos,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanos: Effect.sync(nanos),
    sleep: (duration) =>
      Effect.async<void>((resume) => {
        const timer = setTimeout(() => resume(Effect.void), Duration.toMillis(duration) / faster)
        return Effect.sync(() => clearTimeout(timer))
      }),
  }
}
