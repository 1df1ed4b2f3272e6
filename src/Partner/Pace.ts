/**
 * How fast one connection may send requests, learned from the answers. A state machine over a monotonic clock in milliseconds
 * that the caller reads, so that a test needs no waiting.
 *
 * It starts slowly and doubles while all is well. The first 429 shows a rate that is too high (`bad`): the rate is halved, then
 * climbs back to just below `bad` in a few steps. It probes above `bad` only after hundreds of requests, and after more of them
 * each time a probe fails, so that in the long run far less than one request in a hundred is refused.
 */

export interface PaceBounds {
  readonly concurrency: number
  /** Requests per second at the start. */
  readonly startRate: number
}

/** A request that was let through; handed back with its outcome. */
export interface Permit {
  readonly admittedAt: number
}

const startWindow = 2
/** The share of a rate known to be too high that counts as safe. */
const safely = 0.8
const firstBetweenProbes = 300
const fewestBetweenProbes = 40
const mostBetweenProbes = 5000
/** Most services count per second: a pause of that length lets the count start over. Milliseconds. */
export const pauseAfterCut = 1000
const lowestRate = 0.05

export class Pace {
  private readonly bounds: PaceBounds
  /** Requests per second. */
  rate: number
  /** Requests that may be under way at once. */
  window = startWindow
  underWay = 0
  heldUntil = 0
  private bad = Number.POSITIVE_INFINITY
  private nextAt = 0
  private cutAt = Number.NEGATIVE_INFINITY
  private successes = 0
  private sinceWindow = 0
  /** Whether the rate, and not the callers or the service, has set the speed since it was last changed. */
  private isLimiting = false
  private betweenProbes = firstBetweenProbes
  private sent = 0
  private sentAt = 0

  constructor(bounds: PaceBounds) {
    this.bounds = bounds
    this.rate = bounds.startRate
    this.window = Math.min(startWindow, bounds.concurrency)
  }

  /** Milliseconds until a request may go: 0 is now, Infinity while another must come back first. */
  delay(now: number): number {
    if (this.underWay >= this.window) return Number.POSITIVE_INFINITY
    if (now < this.heldUntil) return this.heldUntil - now
    if (now >= this.nextAt) return 0
    this.isLimiting = true
    return this.nextAt - now
  }

  admit(now: number): Permit {
    this.underWay++
    const interval = 1000 / this.rate
    // Timers wake late: some of the loss may be made up, or a rate of 5000/s could not be reached.
    const slack = Math.max(interval / 4, 5)
    this.nextAt = Math.max(this.nextAt, now - slack) + interval
    this.sent = this.sent * Math.exp((this.sentAt - now) / 1000) + 1
    this.sentAt = now
    return { admittedAt: now }
  }

  /** The service answered (not with a 429). */
  accepted(): void {
    this.underWay--
    this.successes++
    this.sinceWindow++
    if (this.sinceWindow >= (this.bad === Number.POSITIVE_INFINITY ? 1 : this.window)) {
      this.sinceWindow = 0
      this.window = Math.min(this.bounds.concurrency, this.window + 1)
    }
    if (this.isLimiting) this.widen()
  }

  /** The service answered 429. A request sent before the last cut shows nothing new. */
  refused(permit: Permit, now: number): void {
    this.underWay--
    if (permit.admittedAt < this.cutAt) return
    const measured = Math.max(1, this.sent)
    if (this.bad !== Number.POSITIVE_INFINITY && this.rate > safely * this.bad) {
      this.betweenProbes = Math.min(mostBetweenProbes, Math.max(firstBetweenProbes, this.betweenProbes * 2))
    }
    this.bad = Math.max(lowestRate, Math.min(this.rate, measured))
    this.change(Math.max(lowestRate, this.bad / 2))
    this.window = Math.max(1, Math.floor(this.window / 2))
    this.cutAt = now
    this.hold(now + pauseAfterCut)
  }

  /** The request ended in a way that says nothing about the pace. */
  returned(): void {
    this.underWay--
  }

  /** No request goes before `until`. */
  hold(until: number): void {
    if (until > this.heldUntil) this.heldUntil = until
  }

  private change(rate: number): void {
    this.rate = rate
    this.successes = 0
    this.isLimiting = false
  }

  private widen(): void {
    if (this.bad === Number.POSITIVE_INFINITY) {
      if (this.successes >= Math.max(3, this.rate * 0.05)) this.change(this.rate * 2)
      return
    }
    const safe = safely * this.bad
    if (this.rate < safe) {
      if (this.successes >= Math.max(5, this.rate)) this.change(Math.min(safe, this.rate * 1.25))
      return
    }
    if (this.successes < this.betweenProbes) return
    this.change(this.rate * 1.05)
    if (this.rate <= this.bad) return
    // The rate that was too high no longer is: `bad` was a bad guess, or the limit was raised. Climb faster from here.
    this.bad = this.rate
    this.betweenProbes = Math.max(fewestBetweenProbes, this.betweenProbes / 2)
  }
}
