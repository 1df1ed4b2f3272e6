/** A night that falls due now. */
import { Clock, Effect } from "effect"
import type { Night } from "../../src/Serve/Nightly/Claim.ts"

export const thisNight = <A, E, R>(run: (night: Night) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Clock.currentTimeMillis, (due) => run({ due, isMissed: false }))
