/** A clock on which the waits during an outage end at once. */
import { Duration, type Effect } from "effect"
import { skippingWaits } from "../support/ChangedClock.ts"

/** The waits during an outage, in minutes: nothing else waits as long, and no test does. */
export const waits = [1, 2, 4, 8, 15]

export const hasted = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  waited: Array<number>,
): Effect.Effect<A, E, R> =>
  skippingWaits(effect, waits.map(Duration.minutes), (wait) => waited.push(Duration.toMinutes(wait)))
