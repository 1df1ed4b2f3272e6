/**
 * Backoff: waits between attempts, in milliseconds. `random` is in [0, 1); `attempt` is 1 before the second try. `Requester.ts`
 * decides whether a retry is due at all.
 */

export interface BackoffBounds {
  readonly backoffBase: number
  readonly backoffCap: number
}

const ceiling = (attempt: number, bounds: BackoffBounds): number =>
  Math.min(bounds.backoffCap, bounds.backoffBase * 2 ** Math.min(attempt - 1, 30))

/** For transient faults: from zero up to the ceiling, so that many callers spread out. */
export const fullJitter = (attempt: number, bounds: BackoffBounds, random: number): number =>
  random * ceiling(attempt, bounds)

/** For a 429 without `Retry-After`: at least half the ceiling, never near zero. */
export const equalJitter = (attempt: number, bounds: BackoffBounds, random: number): number => {
  const most = ceiling(attempt, bounds)
  return most / 2 + (random * most) / 2
}
