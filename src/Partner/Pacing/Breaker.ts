/**
 * The circuit breaker: it keeps us from asking a service that is down over and over. A state machine over a monotonic clock in
 * milliseconds: after some failures in a row it lets one request at a time through (a probe), with growing waits; when several
 * probes have failed too, it refuses everything at once for a while. A request for another kind of thing than those that failed may
 * probe at any time: a service may fail to show one kind alone, which must not keep all others from being read.
 */
import { fullJitter } from "../Backoff.ts"
import type { Bounds } from "../ServiceLimits.ts"

export type BreakerBounds = Pick<
  Bounds,
  "breakerThreshold" | "breakerProbes" | "backoffBase" | "backoffCap" | "retryReserve" | "retryPerSuccess"
>

export class Breaker {
  private readonly bounds: BreakerBounds
  private failures = 0
  private failedProbes = 0
  /** What was asked for in vain since the last success: few kinds, however many things. */
  private readonly failedKinds = new Set<string>()
  private isProbing = false
  private openUntil = 0
  private retries: number

  constructor(bounds: BreakerBounds) {
    this.bounds = bounds
    this.retries = bounds.retryReserve
  }

  private get isOpen(): boolean {
    return this.failures >= this.bounds.breakerThreshold
  }

  /** Milliseconds until a request for this kind of thing may go; Infinity while a probe is under way. */
  delay(now: number, kind: string): number {
    if (!this.isOpen) return 0
    if (this.isProbing) return Number.POSITIVE_INFINITY
    return this.failedKinds.has(kind) ? this.opensIn(now) : 0
  }

  /** Milliseconds until one of those that failed may probe. */
  opensIn(now: number): number {
    return Math.max(0, this.openUntil - now)
  }

  /** Whether waiting is pointless. */
  refuses(now: number, kind: string): boolean {
    const isHopeless = this.failedProbes >= this.bounds.breakerProbes && now < this.openUntil
    return this.isOpen && isHopeless && this.failedKinds.has(kind)
  }

  /** Lets a request go; true where it is a probe. */
  admit(): boolean {
    if (this.isOpen) this.isProbing = true
    return this.isOpen
  }

  succeeded(): void {
    this.failures = 0
    this.failedProbes = 0
    this.failedKinds.clear()
    this.isProbing = false
    this.retries = Math.min(this.bounds.retryReserve, this.retries + this.bounds.retryPerSuccess)
  }

  failed(now: number, wasProbe: boolean, random: number, kind: string): void {
    const wasOpen = this.isOpen
    this.failures++
    this.failedKinds.add(kind)
    if (wasProbe) {
      this.isProbing = false
      this.failedProbes++
    }
    if (!this.isOpen || (wasOpen && !wasProbe)) return
    const isHopeless = this.failedProbes >= this.bounds.breakerProbes
    this.openUntil =
      now + (isHopeless ? this.bounds.backoffCap : fullJitter(this.failedProbes + 1, this.bounds, random))
  }

  /** A request ended in a way that does not show whether the service works. */
  returned(wasProbe: boolean): void {
    if (wasProbe) this.isProbing = false
  }

  /** Takes one retry from the budget; false where the budget is spent. */
  spendRetry(): boolean {
    if (this.retries < 1) return false
    this.retries--
    return true
  }
}
