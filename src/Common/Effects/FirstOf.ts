import { Effect } from "effect"

/**
 * The first of two effects to end, where an interruption waits for both: `Effect.raceFirst` would go on at once, and let go a lock, or
 * close a queue, that the work still needs to its end.
 */
export const firstOf = <A, E, R, B, E2, R2>(
  one: Effect.Effect<A, E, R>,
  other: Effect.Effect<B, E2, R2>,
): Effect.Effect<A | B, E | E2, R | R2> =>
  Effect.uninterruptibleMask((restore) => Effect.raceFirst(restore(one), restore(other)))
