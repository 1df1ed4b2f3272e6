/**
 * How many requests a second a service bears, learned from its answers. A state machine over a clock in milliseconds that the
 * caller reads, so that a test needs no waiting; its state is plain data, for processes that share it.
 *
 * It starts slowly and doubles while all is well. The first 429 shows a rate that is too high (`bad`): the rate is halved, then
 * climbs back to just below `bad` in a few steps. It probes above `bad` only after hundreds of requests, and after more of them
 * each time a probe fails, so that in the long run far less than one request in a hundred is refused.
 */

/** The share of a rate known to be too high that counts as safe. */
const safely = 0.8
const firstBetweenProbes = 300
const fewestBetweenProbes = 40
const mostBetweenProbes = 5000
/** Most services count per second: a pause of that length lets the count start over. Milliseconds. */
export const pauseAfterCut = 1000
const lowestRate = 0.05

export interface RateState {
  /** Requests per second. */
  readonly rate: number
  /** A rate that was too high; null: none is known. */
  readonly bad: number | null
  /** When the next request may go, and until when none may. Milliseconds of the caller's clock, as the others. */
  readonly nextAt: number
  readonly heldUntil: number
  /** When the rate was cut last; null: never. */
  readonly cutAt: number | null
  /** Answers since the rate was last changed. */
  readonly successes: number
  readonly betweenProbes: number
  /** Requests sent in about the last second. */
  readonly sent: number
  readonly sentAt: number
  /** Whether the rate, and not the callers or the service, has set the speed since it was last changed. */
  readonly isLimiting: boolean
}

export class Rate {
  private state: RateState

  private constructor(state: RateState) {
    this.state = state
  }

  static readonly starting = (rate: number): Rate =>
    new Rate({
      rate,
      bad: null,
      nextAt: 0,
      heldUntil: 0,
      cutAt: null,
      successes: 0,
      betweenProbes: firstBetweenProbes,
      sent: 0,
      sentAt: 0,
      isLimiting: false,
    })

  static readonly of = (state: RateState): Rate => new Rate(state)

  get current(): RateState {
    return this.state
  }

  /** Whether a rate is known that is too high. */
  get isKnown(): boolean {
    return this.state.bad !== null
  }

  /** Milliseconds until a request may go. */
  delay(now: number): number {
    const { heldUntil, nextAt } = this.state
    if (now < heldUntil) return heldUntil - now
    if (now >= nextAt) return 0
    this.set({ isLimiting: true })
    return nextAt - now
  }

  /** A request goes now. `slack`: how much later than it might have gone it may be made up for, milliseconds. */
  admit(now: number, slack = 0): void {
    const { nextAt, rate, sent, sentAt } = this.state
    const interval = 1000 / rate
    this.set({
      nextAt: Math.max(nextAt, now - slack) + interval,
      sent: sent * Math.exp(Math.min(0, sentAt - now) / 1000) + 1,
      sentAt: now,
    })
  }

  /** The service answered so many requests (not with a 429). */
  accepted(answers = 1): void {
    this.set({ successes: this.state.successes + answers })
    if (this.state.isLimiting) this.widen()
  }

  /**
   * The service answered 429; whether that told anything: what was let through before the last cut, or by another process in the
   * pause after it, shows nothing new.
   */
  refused(admittedAt: number, now: number): boolean {
    const { bad, betweenProbes, cutAt, rate, sent } = this.state
    if (cutAt !== null && admittedAt < cutAt + pauseAfterCut) return false
    const measured = Math.max(1, sent)
    if (bad !== null && rate > safely * bad) {
      this.set({
        betweenProbes: Math.min(mostBetweenProbes, Math.max(firstBetweenProbes, betweenProbes * 2)),
      })
    }
    const tooHigh = Math.max(lowestRate, Math.min(rate, measured))
    this.set({ bad: tooHigh, cutAt: now })
    this.change(Math.max(lowestRate, tooHigh / 2))
    this.hold(now + pauseAfterCut)
    return true
  }

  /** No request goes before `until`. */
  hold(until: number): void {
    if (until > this.state.heldUntil) this.set({ heldUntil: until })
  }

  private set(changed: Partial<RateState>): void {
    this.state = { ...this.state, ...changed }
  }

  private change(rate: number): void {
    this.set({ rate, successes: 0, isLimiting: false })
  }

  private widen(): void {
    const { bad, betweenProbes, rate, successes } = this.state
    if (bad === null) {
      if (successes >= Math.max(3, rate * 0.05)) this.change(rate * 2)
      return
    }
    const safe = safely * bad
    if (rate < safe) {
      if (successes >= Math.max(5, rate)) this.change(Math.min(safe, rate * 1.25))
      return
    }
    if (successes < betweenProbes) return
    this.change(rate * 1.05)
    const now = this.state.rate
    if (now <= bad) return
    // The rate that was too high no longer is: `bad` was a bad guess, or the limit was raised. Climb faster from here.
    this.set({ bad: now, betweenProbes: Math.max(fewestBetweenProbes, betweenProbes / 2) })
  }
}
