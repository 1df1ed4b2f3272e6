/** How often the keys of the service may be asked for, who may wait for them, and what a delivery is told that gets none. */
import { Data, Effect } from "effect"
import { counted } from "../Common/Text.ts"

/** Whether there is such a key cannot be found out now. */
export class KeysUnavailable extends Data.TaggedError("KeysUnavailable")<{
  readonly reason: "Unreachable" | "BudgetSpent" | "Crowded"
  readonly detail: string
  /** Seconds after which it makes sense to ask again. */
  readonly retryAfter: number
}> {}

const minute = 60_000

/** By both clocks: one may be set back, the other stands still while the machine sleeps. */
export interface Moment {
  readonly wall: number
  readonly steady: number
}

export const longAgo: Moment = { wall: Number.NEGATIVE_INFINITY, steady: Number.NEGATIVE_INFINITY }

export const thisMoment = (): Moment => ({ wall: Date.now(), steady: performance.now() })

/**
 * Milliseconds since then, by the clock that says more. By the wall clock alone a withdrawn key would be trusted, and an
 * unknown one refused, for as long as the clock was set back.
 */
export const since = (moment: Moment): number =>
  Math.max(Date.now() - moment.wall, performance.now() - moment.steady)

export const wholeSeconds = (milliseconds: number): number =>
  Math.max(1, Math.min(60, Math.ceil(milliseconds / 1_000)))

/** Limits how often unknown identifiers may make us ask within a minute. */
export class FetchBudget {
  private readonly perMinute: number
  /** The times of these fetches, oldest first. */
  private readonly fetches: Array<Moment> = []

  constructor(perMinute: number) {
    this.perMinute = perMinute
  }

  /** Counts one fetch, or says why there is none. */
  spend(): KeysUnavailable | undefined {
    const { fetches } = this
    while (fetches[0] !== undefined && since(fetches[0]) >= minute) fetches.shift()
    const [oldest = thisMoment()] = fetches
    if (fetches.length < this.perMinute) {
      fetches.push(thisMoment())
      return undefined
    }
    return new KeysUnavailable({
      reason: "BudgetSpent",
      detail: `the service's keys were read ${fetches.length} times within a minute`,
      retryAfter: wholeSeconds(minute - since(oldest)),
    })
  }
}

/** Limits how many deliveries wait for an answer of the service at once. */
export class WaitingRoom {
  private readonly most: number
  private waiting = 0

  constructor(most: number) {
    this.most = most
  }

  /** Waits in this room; fails at once where it is full. */
  within<A>(wait: Effect.Effect<A, KeysUnavailable>): Effect.Effect<A, KeysUnavailable> {
    return Effect.suspend(() => {
      if (this.waiting >= this.most) {
        const detail = `${counted(this.waiting, "delivery", "deliveries")} wait for the service's keys already`
        return new KeysUnavailable({ reason: "Crowded", detail, retryAfter: 5 })
      }
      this.waiting++
      return Effect.ensuring(
        wait,
        Effect.sync(() => this.waiting--),
      )
    })
  }
}
