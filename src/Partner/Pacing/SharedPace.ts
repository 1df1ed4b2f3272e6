/**
 * A connection's pace where several processes share it: permits are reserved ahead, each for its own moment, from whoever keeps
 * the rate for all of them. What is reserved and not used in time is lost, so that a process that stalled sends no burst.
 */
import { Data } from "effect"
import type { Pacing, Permit } from "./Pace.ts"

/** What became of requests since the last report. */
export interface Asked {
  /** Permits wanted; none: only the report matters. */
  readonly wanted: number
  readonly accepted: number
  /** Of requests that were answered 429: when they were let through, by the keeper's clock. */
  readonly refused: ReadonlyArray<number>
  /** Milliseconds that the service asked everybody to wait; 0: none. */
  readonly hold: number
}

export interface Reserved {
  /** When each may go, from now on in milliseconds, in order. */
  readonly permits: ReadonlyArray<number>
  /** No request goes for so many milliseconds, even with a permit. */
  readonly hold: number
  /** The keeper's clock, epoch milliseconds. */
  readonly now: number
  /** Requests per second, of all together. */
  readonly rate: number
}

/** The keeper answers, and cannot keep the pace until a person has mended something: its disk is full. */
export class Unkept extends Data.TaggedError("Unkept")<{ readonly why: string }> {}

/** Reserves permits at the keeper; rejects with `Unkept`, or with anything else where the keeper cannot be reached for a while. */
export type Reserve = (asked: Asked) => Promise<Reserved>

/** How long after its moment a permit may still be used. This bounds how many permits a second can take over from the one before. */
const usableFor = 120
/** Seconds of the connection's rate that one process may reserve at once: four of them then share about a second. */
export const reservedAhead = 0.25
/** How long the keeper is left alone after it could not be reached. */
const askAgainAfter = 1_000
/** At a slow rate a permit is worth a lot: it is not lost because a timer was late. */
const shareOfInterval = 0.5

interface Granted {
  /** Milliseconds of the local monotonic clock, and of the keeper's. */
  readonly at: number
  readonly stamp: number
}

export class SharedPace implements Pacing {
  heldUntil = 0
  rate: number
  readonly window: number
  readonly learned = null
  private readonly reserve: Reserve
  private readonly wake: () => void
  private readonly demand: () => number
  private readonly clock: () => number
  private granted: Array<Granted> = []
  private underWay = 0
  /** Permits used since some were asked for last. */
  private used = 0
  private accepts = 0
  private refusals: Array<number> = []
  private holding = 0
  private isAsking = false
  private notBefore = 0
  private why: string | null = null

  /** `wake` is called when a request may go that could not; `demand` says how many wait for their turn. */
  constructor(
    bounds: { readonly concurrency: number; readonly startRate: number },
    reserve: Reserve,
    wake: () => void,
    demand: () => number,
    clock: () => number = () => performance.now(),
  ) {
    this.window = bounds.concurrency
    this.rate = bounds.startRate
    this.reserve = reserve
    this.wake = wake
    this.demand = demand
    this.clock = clock
  }

  delay(now: number): number {
    if (this.underWay >= this.window) return Number.POSITIVE_INFINITY
    if (now < this.heldUntil) return this.heldUntil - now
    const late = Math.max(usableFor, (shareOfInterval * 1000) / this.rate)
    while (this.granted[0] !== undefined && this.granted[0].at + late < now) this.granted.shift()
    // The next ones are reserved while the last ones are used.
    if (this.granted.length <= 2) this.ask(now)
    const [first] = this.granted
    return first === undefined ? Number.POSITIVE_INFINITY : Math.max(0, first.at - now)
  }

  /** Until the keeper is asked again. Who waited for it silently would wait for hours. */
  unkept(now: number): string | null {
    return now < this.notBefore ? this.why : null
  }

  /** By the keeper's clock, since the keeper has to know when a refused request was let through. */
  admit(): Permit {
    this.underWay++
    this.used++
    return { admittedAt: this.granted.shift()?.stamp ?? 0 }
  }

  accepted(): void {
    this.underWay--
    this.accepts++
  }

  refused(permit: Permit, now: number): void {
    this.underWay--
    this.refusals.push(permit.admittedAt)
    // The other processes learn of it at once, and permits that were reserved at the former rate are given up.
    this.granted = []
    this.notBefore = 0
    this.ask(now)
  }

  returned(): void {
    this.underWay--
  }

  hold(until: number): void {
    if (until <= this.heldUntil) return
    const now = this.clock()
    this.heldUntil = until
    this.holding = Math.max(this.holding, until - now)
    this.granted = []
    this.notBefore = 0
    this.ask(now)
  }

  private ask(now: number): void {
    if (this.isAsking || now < this.notBefore) return
    this.isAsking = true
    const report = { accepted: this.accepts, refused: this.refusals, hold: this.holding }
    this.accepts = 0
    this.refusals = []
    this.holding = 0
    const most = Math.ceil(this.rate * reservedAhead)
    // Whoever sends steadily seldom has a request waiting: as many as were used since, or one transaction would come with each.
    const wanted = Math.min(most, Math.max(this.used + 1, this.demand()))
    this.used = 0
    this.reserve({ wanted, ...report }).then(
      (reserved) => this.take(reserved),
      (error) => {
        this.isAsking = false
        this.notBefore = this.clock() + askAgainAfter
        this.why = error instanceof Unkept ? error.why : null
        this.accepts += report.accepted
        this.refusals = [...report.refused, ...this.refusals]
        this.holding = Math.max(this.holding, report.hold)
        setTimeout(this.wake, askAgainAfter)
        if (this.why !== null) this.wake()
      },
    )
  }

  private take({ hold, now: stamp, permits, rate }: Reserved): void {
    const now = this.clock()
    this.isAsking = false
    this.rate = rate
    if (hold > 0) this.heldUntil = Math.max(this.heldUntil, now + hold)
    this.granted.push(...permits.map((after) => ({ at: now + after, stamp: stamp + after })))
    // Reports at once what happened in the meantime; the answer then brings the permits.
    if (this.refusals.length > 0 || this.holding > 0) {
      this.granted = []
      this.ask(now)
    }
    this.wake()
  }
}
