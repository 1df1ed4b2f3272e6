/** Lets requests through at the connection's pace, in the order in which they came. */
import { Data } from "effect"
import type { Bounds } from "../ServiceLimits.ts"
import { Breaker } from "./Breaker.ts"
import { Pace, type Pacing, type Permit } from "./Pace.ts"
import type { RateState } from "./RateState.ts"
import { pauseAfterCut } from "./RequestRate.ts"
import { type Reserve, SharedPace } from "./SharedPace.ts"

/**
 * `limited`: the service asked for a longer wait than the settings allow. `broken`: it fails every time. Else why the pace that
 * processes share cannot be kept.
 */
export class GateClosed extends Data.TaggedError("GateClosed")<{
  readonly why: "limited" | "broken" | { readonly unkept: string }
  /** Milliseconds until it opens. */
  readonly wait: number
}> {}

/** How a request ended, as far as the pace is concerned. `hold` is a wait that the service asked of all requests. */
export interface Outcome {
  readonly kind: "accepted" | "refused" | "failed" | "returned"
  readonly hold?: number | undefined
}

export interface Pass {
  readonly permit: Permit
  readonly isProbe: boolean
  readonly kind: string
}

/** The request whose turn has come has no valid token at the moment: it goes back to the front of the queue until it has one. */
export class NotReady extends Data.TaggedError("NotReady")<object> {}

export interface Waiter {
  /** What it asks for: the kind of endpoint. */
  readonly kind: string
  /** Called once, when the request's turn has come, or cannot come. */
  readonly turn: (turn: Pass | GateClosed | NotReady) => void
  /** Asked when the turn has come; if it returns false, no pass is used up. */
  readonly isReady: () => boolean
  /** Ahead of all requests that have not waited for a turn yet. */
  readonly isFirst: boolean
}

export class Gate {
  private readonly bounds: Bounds
  private readonly pace: Pacing
  private readonly breaker: Breaker
  private readonly first = new Set<Waiter>()
  private readonly waiting = new Set<Waiter>()
  private timer: NodeJS.Timeout | undefined

  /** `reserve`: the pace is shared with other processes. Else `known` is what was learned before; null: nothing. */
  constructor(bounds: Bounds, reserve?: Reserve, known: RateState | null = null) {
    this.bounds = bounds
    this.pace =
      reserve === undefined
        ? new Pace(bounds, known)
        : new SharedPace(
            bounds,
            reserve,
            () => this.pump(),
            () => this.first.size + this.waiting.size,
          )
    this.breaker = new Breaker(bounds)
  }

  /**
   * Waits for its turn; returns what ends the waiting. A pass must be handed back with `leave`. Uses plain calls instead of
   * effects, since a sync makes a request per resource.
   */
  readonly enter = (waiter: Waiter): (() => void) => {
    const now = performance.now()
    const queue = waiter.isFirst ? this.first : this.waiting
    if (this.first.size + queue.size === 0) {
      const refused = this.refused(waiter, now)
      if (refused !== undefined || this.delay(now, waiter.kind) === 0) {
        waiter.turn(refused ?? this.admit(now, waiter.kind))
        return () => undefined
      }
    }
    queue.add(waiter)
    this.pump()
    return () => {
      queue.delete(waiter)
    }
  }

  readonly leave = (pass: Pass, outcome: Outcome): void => {
    const now = performance.now()
    if (outcome.kind === "accepted") this.pace.accepted(pass.permit)
    else if (outcome.kind === "refused") this.pace.refused(pass.permit, now)
    else this.pace.returned(pass.permit)
    if (outcome.kind === "failed") this.breaker.failed(now, pass.isProbe, Math.random(), pass.kind)
    else if (outcome.kind === "returned") this.breaker.returned(pass.isProbe)
    else this.breaker.succeeded()
    if (outcome.hold !== undefined) this.pace.hold(now + outcome.hold)
    this.pump()
  }

  /** The pace as it is now: requests per second, and requests at once. */
  get paced(): Pick<Pacing, "learned" | "rate" | "window"> {
    return this.pace
  }

  readonly spendRetry = (): boolean => this.breaker.spendRetry()

  private admit(now: number, kind: string): Pass {
    const isProbe = this.breaker.admit()
    return { permit: this.pace.admit(now), isProbe, kind }
  }

  private delay(now: number, kind: string): number {
    return Math.max(this.breaker.delay(now, kind), this.pace.delay(now))
  }

  private closed(now: number, kind: string): GateClosed | undefined {
    if (this.breaker.refuses(now, kind))
      return new GateClosed({ why: "broken", wait: this.breaker.opensIn(now) })
    const unkept = this.pace.unkept(now)
    if (unkept !== null) return new GateClosed({ why: { unkept }, wait: 0 })
    const hold = this.pace.heldUntil - now
    return hold > Math.max(this.bounds.longestWait, pauseAfterCut)
      ? new GateClosed({ why: "limited", wait: hold })
      : undefined
  }

  private refused(waiter: Waiter, now: number): GateClosed | NotReady | undefined {
    return this.closed(now, waiter.kind) ?? (waiter.isReady() ? undefined : new NotReady())
  }

  private pump(): void {
    clearTimeout(this.timer)
    if (this.pumpFrom(this.first)) this.pumpFrom(this.waiting)
  }

  /** Whether all of them have gone. */
  private pumpFrom(queue: Set<Waiter>): boolean {
    for (const waiter of queue) {
      const now = performance.now()
      const refused = this.refused(waiter, now)
      if (refused !== undefined) {
        queue.delete(waiter)
        waiter.turn(refused)
        continue
      }
      const delay = this.delay(now, waiter.kind)
      if (delay > 0) {
        if (Number.isFinite(delay)) this.timer = setTimeout(() => this.pump(), Math.ceil(delay))
        return false
      }
      queue.delete(waiter)
      waiter.turn(this.admit(now, waiter.kind))
    }
    return true
  }
}
