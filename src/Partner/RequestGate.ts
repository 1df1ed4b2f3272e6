/** Lets requests through at the connection's pace, in the order in which they came. */
import { Data, Effect } from "effect"
import type { Bounds } from "./Bounds.ts"
import { Breaker } from "./Breaker.ts"
import { Pace, type Permit, pauseAfterCut } from "./Pace.ts"

/** `limited`: the service asked for a longer wait than the settings allow. `broken`: it fails every time. */
export class GateClosed extends Data.TaggedError("GateClosed")<{
  readonly why: "limited" | "broken"
  /** Milliseconds until it opens. */
  readonly wait: number
}> {}

/** How a request ended, as the pace counts it. `hold`: a wait that the service asked for, for all requests. */
export interface Outcome {
  readonly kind: "accepted" | "refused" | "failed" | "returned"
  readonly hold?: number | undefined
}

export interface Pass extends Permit {
  readonly isProbe: boolean
}

interface Waiter {
  readonly resume: (effect: Effect.Effect<Pass, GateClosed>) => void
  granted: Pass | undefined
}

export class Gate {
  private readonly bounds: Bounds
  private readonly pace: Pace
  private readonly breaker: Breaker
  private readonly waiting = new Set<Waiter>()
  private timer: NodeJS.Timeout | undefined

  constructor(bounds: Bounds) {
    this.bounds = bounds
    this.pace = new Pace(bounds)
    this.breaker = new Breaker(bounds)
  }

  /** Waits for a turn. The pass must be handed back with `leave`. */
  readonly enter: Effect.Effect<Pass, GateClosed> = Effect.suspend(() => {
    const now = performance.now()
    if (this.waiting.size === 0) {
      const closed = this.closed(now)
      if (closed !== undefined) return Effect.fail(closed)
      if (this.delay(now) === 0) return Effect.succeed(this.admit(now))
    }
    return this.wait
  })

  readonly leave = (pass: Pass, outcome: Outcome): void => {
    const now = performance.now()
    if (outcome.kind === "accepted") this.pace.accepted()
    else if (outcome.kind === "refused") this.pace.refused(pass, now)
    else this.pace.returned()
    if (outcome.kind === "failed") this.breaker.failed(now, pass.isProbe, Math.random())
    else if (outcome.kind === "returned") this.breaker.returned(pass.isProbe)
    else this.breaker.succeeded()
    if (outcome.hold !== undefined) this.pace.hold(now + outcome.hold)
    this.pump()
  }

  /** The pace as it is now: requests per second, and requests at once. */
  get paced(): { readonly rate: number; readonly window: number } {
    return this.pace
  }

  readonly spendRetry = (): boolean => this.breaker.spendRetry()

  private readonly wait: Effect.Effect<Pass, GateClosed> = Effect.suspend(() => {
    let waiter: Waiter | undefined
    return Effect.async<Pass, GateClosed>((resume) => {
      waiter = { resume, granted: undefined }
      this.waiting.add(waiter)
      this.pump()
    }).pipe(
      // A pass may be granted at the moment its fiber is interrupted: it must not be lost.
      Effect.onInterrupt(() =>
        Effect.sync(() => {
          if (waiter === undefined) return
          this.waiting.delete(waiter)
          if (waiter.granted !== undefined) this.leave(waiter.granted, { kind: "returned" })
        }),
      ),
    )
  })

  private admit(now: number): Pass {
    const isProbe = this.breaker.admit()
    return { admittedAt: this.pace.admit(now).admittedAt, isProbe }
  }

  private delay(now: number): number {
    return Math.max(this.breaker.delay(now), this.pace.delay(now))
  }

  private closed(now: number): GateClosed | undefined {
    if (this.breaker.refuses(now)) return new GateClosed({ why: "broken", wait: this.breaker.delay(now) })
    const hold = this.pace.heldUntil - now
    return hold > Math.max(this.bounds.longestWait, pauseAfterCut)
      ? new GateClosed({ why: "limited", wait: hold })
      : undefined
  }

  private pump(): void {
    clearTimeout(this.timer)
    for (const waiter of this.waiting) {
      const now = performance.now()
      const closed = this.closed(now)
      if (closed !== undefined) {
        this.waiting.delete(waiter)
        waiter.resume(Effect.fail(closed))
        continue
      }
      const delay = this.delay(now)
      if (delay > 0) {
        if (Number.isFinite(delay)) this.timer = setTimeout(() => this.pump(), Math.ceil(delay))
        return
      }
      this.waiting.delete(waiter)
      waiter.granted = this.admit(now)
      waiter.resume(Effect.succeed(waiter.granted))
    }
  }
}
