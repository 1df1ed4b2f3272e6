/**
 * How fast one connection may send requests, and how many at once, by the answers that this process gets. Milliseconds of a
 * monotonic clock that the caller reads.
 */
import { resumed } from "./PaceMemory.ts"
import type { RateState } from "./RateState.ts"
import type { Rate } from "./RequestRate.ts"

export interface PaceBounds {
  readonly concurrency: number
  /** Requests per second at the start. */
  readonly startRate: number
  /** Requests a second that the service allows; null: it has not said. */
  readonly requestsPerSecond: number | null
}

/** A request that was let through; handed back with its outcome. */
export interface Permit {
  readonly admittedAt: number
}

/** Decides when the next request goes. */
export interface Pacing {
  /** Milliseconds until a request may go: 0 is now, Infinity while something else must come first. */
  readonly delay: (now: number) => number
  readonly admit: (now: number) => Permit
  /** The service answered (not with a 429). */
  readonly accepted: (permit: Permit) => void
  /** The service answered 429. */
  readonly refused: (permit: Permit, now: number) => void
  /** The request ended in a way that says nothing about the pace. */
  readonly returned: (permit: Permit) => void
  /** No request goes before `until`. */
  readonly hold: (until: number) => void
  readonly heldUntil: number
  /** Why no request goes until a person has mended something; null: they go in their turn. */
  readonly unkept: (now: number) => string | null
  /** Requests per second, and requests that may be under way at once. */
  readonly rate: number
  readonly window: number
  /** What this process has learned by itself; null: others keep it. */
  readonly learned: RateState | null
}

const startWindow = 2

export class Pace implements Pacing {
  private readonly bounds: PaceBounds
  private readonly limit: Rate
  window: number
  underWay = 0
  private sinceWindow = 0

  /** `known`: what was learned before; null: nothing. */
  constructor(bounds: PaceBounds, known: RateState | null = null) {
    this.bounds = bounds
    this.limit = resumed(known, bounds.startRate, bounds.requestsPerSecond)
    this.window = Math.min(startWindow, bounds.concurrency)
  }

  get rate(): number {
    return this.limit.current.rate
  }

  get learned(): RateState {
    return this.limit.current
  }

  get heldUntil(): number {
    return this.limit.current.heldUntil
  }

  unkept(): null {
    return null
  }

  delay(now: number): number {
    return this.underWay >= this.window ? Number.POSITIVE_INFINITY : this.limit.delay(now)
  }

  admit(now: number): Permit {
    this.underWay++
    // Timers wake late. Some of that loss may be made up for, or a rate of 5000/s could not be reached.
    this.limit.admit(now, Math.max(250 / this.rate, 5))
    return { admittedAt: now }
  }

  accepted(): void {
    this.underWay--
    this.sinceWindow++
    if (this.sinceWindow >= (this.limit.isKnown ? this.window : 1)) {
      this.sinceWindow = 0
      this.window = Math.min(this.bounds.concurrency, this.window + 1)
    }
    this.limit.accepted()
  }

  refused(permit: Permit, now: number): void {
    this.underWay--
    if (this.limit.refused(permit.admittedAt, now)) this.window = Math.max(1, Math.floor(this.window / 2))
  }

  returned(): void {
    this.underWay--
  }

  hold(until: number): void {
    this.limit.hold(until)
  }
}
