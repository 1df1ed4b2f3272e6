/** The connector's clock shows the history's time. Waits are real but shorter, so that polling continues. */
import { Clock, Duration, Effect } from "effect"
import type { World } from "./World.ts"

/** Waits are so many times shorter. */
const faster = 20

/** The time of the world, which only its steps move. */
export const simulated = (world: World): Clock.Clock => {
  const millis = (): number => world.now
  const nanos = (): bigint => BigInt(world.now) * 1_000_000n
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
