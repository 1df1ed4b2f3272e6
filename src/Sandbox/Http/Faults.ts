import { mix32 } from "../World/Random.ts"
import { type FaultName, type FaultPlan, printFaults } from "./FaultPlan.ts"
import type { Twist } from "./Pages.ts"
import { failure, type Reply } from "./SandboxReply.ts"

/** A fault that meets a request, and bits that decide its form. */
export interface Fault {
  readonly name: Exclude<FaultName, "limit">
  readonly bits: number
}

const statuses = [
  [503, "Service Unavailable"],
  [500, "Internal Server Error"],
  [502, "Bad Gateway"],
  [504, "Gateway Time-out"],
] as const

/** Answers of a proxy in front of the service when the service does not answer. */
const unavailable = (bits: number): Reply => {
  const [status, title] = statuses[bits % statuses.length] ?? statuses[0]
  const body = `<html>\r\n<head><title>${status} ${title}</title></head>\r\n<body><h1>${title}</h1></body>\r\n</html>\r\n`
  return { status, body, headers: { "content-type": "text/html" } }
}

/**
 * Decides what goes wrong, by the seed and the number of the request since the plan was set; only the rate limit goes by
 * the clock.
 */
export class Faults {
  readonly #seed: number
  readonly #now: () => number
  #plan: FaultPlan
  #counts: Record<string, number> = {}
  #requests = 0
  #tokens = 0
  #filled = 0
  #refused = 0
  #expiredAt = Number.NEGATIVE_INFINITY
  #expiredCursors = new Set<string>()

  constructor(seed: number, now: () => number, plan: FaultPlan) {
    this.#seed = mix32(seed ^ 0xfa17)
    this.#now = now
    this.#plan = plan
    this.set(plan)
  }

  /** Starts over with another plan. */
  set(plan: FaultPlan): void {
    this.#plan = plan
    this.#requests = 0
    this.#tokens = this.#capacity
    this.#filled = this.#now()
    this.#expiredAt = Number.NEGATIVE_INFINITY
    this.#expiredCursors.clear()
  }

  get plan(): string {
    return printFaults(this.#plan)
  }

  /** How often each fault happened since the counters were reset. */
  get counts(): Readonly<Record<string, number>> {
    return this.#counts
  }

  reset(): void {
    this.#counts = {}
  }

  count(name: FaultName): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + 1
  }

  /** The bucket holds what comes in a second. */
  get #capacity(): number {
    return Math.max(1, this.#plan.get("limit") ?? 0)
  }

  #bits(purpose: number): number {
    const request = mix32((this.#seed + Math.imul(this.#requests, 0x9e3779b9)) >>> 0)
    return mix32((request + Math.imul(purpose, 0x85ebca6b)) >>> 0)
  }

  /** Which fault meets the next request, if any; whether it can happen there shows later. */
  next(): Fault | undefined {
    this.#requests++
    let left = (this.#bits(1) / 0x100000000) * 100
    for (const [name, rate] of this.#plan) {
      if (name === "limit") continue
      if (left < rate) return { name, bits: this.#bits(2) }
      left -= rate
    }
    return undefined
  }

  /** Refuses a request that comes too soon, with a hint as seconds, as a date and without one in turn. */
  limit(): Reply | undefined {
    const rate = this.#plan.get("limit")
    if (rate === undefined) return undefined
    const now = this.#now()
    this.#tokens = Math.min(this.#capacity, this.#tokens + ((now - this.#filled) / 1000) * rate)
    this.#filled = now
    if (this.#tokens >= 1) {
      this.#tokens--
      return undefined
    }
    this.count("limit")
    const seconds = Math.ceil((1 - this.#tokens) / rate)
    const hints = [
      { "retry-after": String(seconds) },
      // A date has whole seconds: the one before would be too early.
      { "retry-after": new Date(Math.ceil(now / 1000 + seconds) * 1000).toUTCString() },
      undefined,
    ]
    return failure(429, "too_many_requests", "there are too many requests", hints[this.#refused++ % 3])
  }

  /** The answer that comes in place of the service's own, where the fault is of that kind. */
  instead({ name, bits }: Fault, target: string): Reply | undefined {
    if (name !== "unavailable" && name !== "redirect") return undefined
    this.count(name)
    if (name === "unavailable") return unavailable(bits)
    return { status: 302, body: "", headers: { location: `http://elsewhere.example.test${target}` } }
  }

  /** Whether all tokens become invalid with this request: not again at once, or no new token would ever be used. */
  expiresTokens(fault: Fault | undefined): boolean {
    if (fault?.name !== "expire-token") return false
    const distance = Math.floor(50 / (this.#plan.get("expire-token") ?? 1))
    if (this.#requests - this.#expiredAt < distance) return false
    this.#expiredAt = this.#requests
    this.count("expire-token")
    return true
  }

  /** Whether a list's cursor is answered as expired: once for each list. */
  expiresCursor(fault: Fault | undefined, path: string): boolean {
    if (fault?.name !== "expire-cursor" || this.#expiredCursors.has(path)) return false
    this.#expiredCursors.add(path)
    this.count("expire-cursor")
    return true
  }

  /** What happens to the page that is answered, if the fault is of that kind. */
  twist(fault: Fault | undefined): Twist | undefined {
    if (fault?.name !== "repeat" && fault?.name !== "change") return undefined
    const { name, bits } = fault
    return { name, bits, happened: () => this.count(name) }
  }
}
