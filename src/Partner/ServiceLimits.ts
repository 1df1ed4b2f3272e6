import { Duration, Schema } from "effect"
import { Limits } from "../Settings/Limits.ts"

/** The settings' limits on requests to the service. */
export type ServiceLimits = Pick<
  Limits,
  | "concurrency"
  | "requestsPerSecond"
  | "connectTimeout"
  | "headersTimeout"
  | "bodyTimeout"
  | "attemptTimeout"
  | "maxBodyBytes"
  | "maxPages"
  | "maxEmptyPages"
  | "maxRetryAfter"
  | "tries"
>

/** Bounds that are no settings; tests shorten the waits. All times in milliseconds. */
export interface Tuning {
  /** Requests per second that a connection starts with. */
  readonly startRate: number
  /** The first wait is at most this long; the bound doubles with every further one. */
  readonly backoffBase: number
  readonly backoffCap: number
  /** Attempts at a request that is answered 429, the first included. */
  readonly limitedTries: number
  /**
   * A longer `Retry-After` holds a process that lives on, and those that share its pace, for so long: one mistaken answer would else keep
   * them from asking for as long as it says, while each new process asks at once.
   */
  readonly retryAfterCap: number
  /** Failures in a row after which only one request at a time is let through, and how many of those may fail. */
  readonly breakerThreshold: number
  readonly breakerProbes: number
  /** Retries of failures (not of 429s) that are always allowed, and how many more each success earns. */
  readonly retryReserve: number
  readonly retryPerSuccess: number
}

export const defaultTuning: Tuning = {
  startRate: 40,
  backoffBase: 500,
  backoffCap: 20_000,
  limitedTries: 20,
  retryAfterCap: 3_600_000,
  breakerThreshold: 5,
  breakerProbes: 5,
  retryReserve: 20,
  retryPerSuccess: 0.25,
}

/** Every bound of one connection, times in milliseconds. */
export interface Bounds extends Tuning {
  readonly concurrency: number
  /** What the service allows; null: it has not said, and the pace is learned. */
  readonly requestsPerSecond: number | null
  readonly connectTimeout: number
  readonly headersTimeout: number
  readonly bodyTimeout: number
  readonly attemptTimeout: number
  readonly maxBodyBytes: number
  readonly maxPages: number
  readonly maxEmptyPages: number
  /** If the service asks for a longer wait, the run stops instead. */
  readonly longestWait: number
  readonly tries: number
}

export const defaultLimits: ServiceLimits = Schema.decodeUnknownSync(Limits)({})

export const bounds = (limits: ServiceLimits, tuning: Partial<Tuning> = {}): Bounds => ({
  ...defaultTuning,
  ...tuning,
  concurrency: limits.concurrency,
  requestsPerSecond: limits.requestsPerSecond,
  connectTimeout: Duration.toMillis(limits.connectTimeout),
  headersTimeout: Duration.toMillis(limits.headersTimeout),
  bodyTimeout: Duration.toMillis(limits.bodyTimeout),
  attemptTimeout: Duration.toMillis(limits.attemptTimeout),
  maxBodyBytes: limits.maxBodyBytes,
  maxPages: limits.maxPages,
  maxEmptyPages: limits.maxEmptyPages,
  longestWait: Duration.toMillis(limits.maxRetryAfter),
  retryAfterCap: Math.max(
    tuning.retryAfterCap ?? defaultTuning.retryAfterCap,
    Duration.toMillis(limits.maxRetryAfter),
  ),
  tries: limits.tries,
})
