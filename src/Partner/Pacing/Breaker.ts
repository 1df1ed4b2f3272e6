/**
 * The circuit breaker: it keeps us from asking a service that is down over and over. A state machine over a monotonic clock in
 * milliseconds: after some failures in a row it lets one request at a time through (a probe), with growing waits; when several
 * probes have failed too, it refuses everything at once for a while.
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

  /** Milliseconds until a request may go; Infinity while a probe is under way. */
  delay(now: number): number {
    if (!this.isOpen) return 0
    return this.isProbing ? Number.POSITIVE_INFINITY : Math.max(0, this.openUntil - now)
  }

  /** Whether waiting is pointless. */
  refuses(now: number): boolean {
    return this.isOpen && this.failedProbes >= this.bounds.breakerProbes && now < this.openUntil
  }

  /** Lets a request go; true where it is a probe. */
  admit(): boolean {
    if (this.isOpen) this.isProbing = true
    return this.isOpen
  }

  succeeded(): void {
    this.failures = 0
    this.failedProbes = 0
    this.isProbing = false
    this.retries = Math.min(this.bounds.retryReserve, this.retries + this.bounds.retryPerSuccess)
  }

  failed(now: number, wasProbe: boolean, random: number): void {
    const wasOpen = this.isOpen
    this.failures++
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
