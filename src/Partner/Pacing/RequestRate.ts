/**
 * How many requests a second a service bears, learned from its answers. A state machine over a clock in milliseconds that the
 * caller reads, so that a test needs no waiting; its state is plain data, for processes that share it.
 *
 * It starts slowly and doubles while all is well. The first 429 shows a rate that is too high (`bad`): the rate is halved, climbs
 * back fast at first and then in ever smaller steps to just below `bad`, and stays there. It probes above `bad` only after tens
 * to hundreds of requests, and after more of them each time a probe fails, so that in the long run far less than one request
 * in a hundred is refused. Probes that succeed become larger and come sooner: `bad` was a bad guess, or the limit was raised.
 *
 * A service that refuses for reasons of its own, as every tenth request, refuses at any rate. A rate that is at most half of what it
 * served a second right before, pauses included, is not why: the rate is set back to that, and further refusals only pause it. So does
 * a single one of hundreds of answers, where far fewer requests are sent than the rate allows: cut to those, the rate would take minutes
 * to climb back, of the next process, too.
 *
 * While nothing at all is served it waits ever longer and learns nothing. A limit that the service has told its partner
 * (`allowed`) is never exceeded, and not probed.
 */

import type { RateState } from "./RateState.ts"

/** The shares of a rate known to be too high that are safe to climb to fast, and to stay at. */
export const safely = 0.8
const nearly = 0.97
/** A rate that the service bore for long and then no more is well above the limit: it had used up a reserve. */
const lower = 0.97
/** Requests between probes: seconds of the rate, within bounds; twice as many after each probe that fails. */
const secondsBetweenProbes = 30
const firstBetweenProbes = 300
const fewestBetweenProbes = 80
const mostBetweenProbes = 5000
/** At a slow rate so many requests would take an hour, and a raised limit should be found sooner. Seconds. */
const longestBetweenProbes = 240
/** Most services count per second: a pause of that length lets the count start over. Milliseconds. */
export const pauseAfterCut = 1000
/** The longest pause while nothing at all is served. Milliseconds. */
const longestPause = 30_000
const lowestRate = 0.05
/** Seconds that a rate must last to count as borne. */
const shortestProbe = 3
const fewestToTell = 5
/** Stretches between refusals that tell what the service bears: so many last ones, none of them longer (milliseconds). */
const stretchesKept = 4
const longestStretch = 15_000
/** After one refusal that was not about the rate, so many more are taken to be of that kind; then it is decided anew. */
const refusalsAside = 50
/**
 * A refusal that is not about the rate comes seldom, while far fewer were sent than the rate allows: answers since the last one, so that
 * a limit that is lower refuses one of so many at most, and the largest share of the rate.
 */
const servedBetween = 200
const fewSent = 1 / 4
/** So many probes in a row succeed where the limit was raised. */
const raised = 4

const within = (low: number, value: number, high: number): number => Math.max(low, Math.min(value, high))

/** This share of what the service allows is used: a request that waits for its timer moves from one second into the next. */
const shareOfAllowed = 0.98

const ceiling = (allowed: number | null): number =>
  allowed === null ? Number.POSITIVE_INFINITY : allowed * shareOfAllowed

export class Rate {
  private state: RateState

  private constructor(state: RateState) {
    this.state = state
  }

  /** `allowed`: requests a second that the service allows this partner; null: it has not said. */
  static readonly starting = (rate: number, allowed: number | null = null): Rate =>
    new Rate({
      rate: Math.min(rate, ceiling(allowed)),
      bad: null,
      nextAt: 0,
      heldUntil: 0,
      cutAt: null,
      successes: 0,
      betweenProbes: firstBetweenProbes,
      climbed: 0,
      hasServed: false,
      served: 0,
      stretches: [],
      aside: 0,
      sent: 0,
      sentAt: 0,
      isLimiting: false,
      allowed,
      keptAt: 0,
    })

  /** Goes on from what was learned; where the service allows another rate since, from that. */
  static readonly of = (state: RateState, allowed: number | null = null): Rate =>
    new Rate(
      state.allowed === allowed
        ? state
        : { ...state, rate: Math.min(state.rate, ceiling(allowed)), bad: null, allowed },
    )

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

  /** A request goes now. `slack`: up to how many milliseconds of its delay may be made up for. */
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
    if (answers === 0) return
    const { served, successes } = this.state
    this.set({ successes: successes + answers, served: served + answers, hasServed: true })
    if (this.state.isLimiting) this.widen()
  }

  /**
   * The service answered 429. Returns whether that was news: a request that went before the last cut, or was sent by another
   * process in the pause after it, shows nothing new.
   */
  refused(admittedAt: number, now: number): boolean {
    const { bad, betweenProbes, climbed, cutAt, hasServed, rate, sent } = this.state
    if (cutAt !== null && admittedAt < cutAt + pauseAfterCut) return false
    // A service that serves nothing tells nothing about the rate: it is asked ever more rarely until it serves again.
    if (!hasServed) {
      this.hold(now + within(pauseAfterCut, cutAt === null ? 0 : now - cutAt, longestPause))
      if (cutAt !== null) return false
      this.set({ cutAt: now })
      this.change(rate / 2)
      return true
    }
    const measured = Math.max(1, sent)
    if (this.isAside(now) || this.isStray(measured, now)) return false
    const tooHigh = Math.max(lowestRate, Math.min(rate, measured))
    const first = within(fewestBetweenProbes, tooHigh * secondsBetweenProbes, firstBetweenProbes)
    // A raised limit is learned anew; a refusal a little above the rate that lasted is no news.
    if (bad === null || climbed >= raised) this.set({ betweenProbes: first })
    else if (rate > safely * bad) this.set({ betweenProbes: Math.min(mostBetweenProbes, betweenProbes * 2) })
    this.set({
      bad:
        bad === null || rate <= safely * bad
          ? tooHigh
          : climbed > 0
            ? Math.min(tooHigh, bad)
            : rate <= bad
              ? tooHigh * lower
              : tooHigh,
      cutAt: now,
      climbed: 0,
      hasServed: false,
      served: 0,
    })
    this.change(Math.max(lowestRate, tooHigh / 2))
    this.hold(now + pauseAfterCut)
    return true
  }

  /** Whether a refusal is not about the rate, so that it only pauses. Records what was served since the refusal before. */
  private isAside(now: number): boolean {
    const { aside, cutAt, rate, served, stretches } = this.state
    if (cutAt === null) return false
    const lasted = now - cutAt
    const known = lasted > longestStretch ? [] : [...stretches, { served: (served * 1000) / lasted, rate }]
    const best = known.reduce((most, one) => (one.served > most.served ? one : most), { served: 0, rate })
    const isFirst = aside === 0 && rate <= best.served / 2
    this.set({ stretches: isFirst ? [] : known.slice(-stretchesKept) })
    if (aside === 0 && !isFirst) return false
    this.set({ aside: isFirst ? refusalsAside : aside - 1, cutAt: now, hasServed: false, served: 0 })
    if (isFirst) {
      this.set({ bad: 2 * best.rate })
      this.change(best.rate)
    }
    this.hold(now + pauseAfterCut)
    return true
  }

  /** Whether a refusal is one of very many answers, and of so few requests that they tell nothing about the rate: it only pauses. */
  private isStray(measured: number, now: number): boolean {
    const { rate, served } = this.state
    if (served < servedBetween || measured > rate * fewSent) return false
    this.set({ cutAt: now, hasServed: false, served: 0 })
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
    this.set({ rate: Math.min(rate, ceiling(this.state.allowed)), successes: 0, isLimiting: false })
  }

  private widen(): void {
    const { bad, betweenProbes, climbed, rate, successes, allowed } = this.state
    if (rate >= ceiling(allowed)) return
    if (bad === null) {
      if (successes >= Math.max(3, rate * 0.05)) this.change(rate * 2)
      return
    }
    const safe = safely * bad
    const near = nearly * bad
    if (rate < safe) {
      if (successes >= Math.max(fewestToTell, rate / 4)) this.change(Math.min(safe, rate * 1.25))
      return
    }
    if (rate < near) {
      if (successes >= Math.max(fewestToTell, rate)) this.change(Math.min(near, (rate + bad) / 2))
      return
    }
    const seldom = Math.min(betweenProbes, Math.max(firstBetweenProbes, rate * longestBetweenProbes))
    const patience = Math.max(fewestToTell, rate * shortestProbe, seldom / 6 ** climbed)
    if (successes < patience) return
    // The rate that was thought too high has lasted. The next one that fails is only a little above it.
    if (rate > bad) this.set({ bad: rate / nearly, climbed: climbed + 1 })
    this.change(rate * (climbed < 2 ? 1.05 : 1.25))
  }
}
