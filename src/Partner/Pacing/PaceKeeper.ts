/** How the keeper of a shared pace answers a report and a request for permits: a plain function over the connection's rate. */

import type { RateState } from "./RateState.ts"
import { Rate } from "./RequestRate.ts"
import { type Asked, type Reserved, reservedAhead } from "./SharedPace.ts"

/**
 * Where the keeper's clock was set back, everything lies as far ahead of it as before: otherwise nobody would ask anything until that
 * clock has caught up.
 */
const byClock = (state: RateState, now: number): RateState => {
  const back = Math.max(0, state.keptAt - now)
  const { cutAt, heldUntil, nextAt, sentAt } = state
  return {
    ...state,
    nextAt: nextAt - back,
    heldUntil: heldUntil - back,
    sentAt: sentAt - back,
    cutAt: cutAt === null ? null : cutAt - back,
    keptAt: now,
  }
}

/** `now`: the keeper's clock, epoch milliseconds. `allowed`: requests a second that the service allows. */
export const reserved = (
  before: RateState,
  asked: Asked,
  now: number,
  allowed: number | null = null,
): { readonly state: RateState; readonly reserved: Reserved } => {
  const rate = Rate.of(byClock(before, now), allowed)
  rate.accepted(asked.accepted)
  for (const admittedAt of asked.refused) rate.refused(admittedAt, now)
  if (asked.hold > 0) rate.hold(now + asked.hold)
  const hold = Math.max(0, rate.current.heldUntil - now)
  const permits: Array<number> = []
  if (hold === 0) {
    const horizon = now + reservedAhead * 1_000
    for (let at = now + rate.delay(now); permits.length < asked.wanted; at = now + rate.delay(now)) {
      // The first permit may lie far ahead, for a slow rate or after many other requests.
      if (permits.length > 0 && at > horizon) break
      rate.admit(at)
      permits.push(at - now)
    }
  }
  const { current } = rate
  return { state: current, reserved: { permits, hold, now, rate: current.rate } }
}
