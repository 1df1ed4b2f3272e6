/** What can go wrong at the service. */
import { Data } from "effect"

export type PartnerReason =
  | "Unreachable"
  /** The authority of its TLS certificate is not one that this machine trusts. */
  | "Untrusted"
  | "Timeout"
  | "Unauthorized"
  | "Forbidden"
  | "Rejected"
  | "NotFound"
  | "RateLimited"
  | "Unavailable"
  | "BadResponse"
  | "TooLarge"
  | "CursorLoop"
  | "CursorExpired"
  | "RedirectRefused"

/** Everything that can go wrong at the service. `detail` says what was seen, `advice` what to do; neither holds a secret. */
export class PartnerError extends Data.TaggedError("PartnerError")<{
  readonly reason: PartnerReason
  /** `GET /accounts/…/statement`, path below the base address, without the query. */
  readonly operation: string
  readonly status?: number
  readonly detail: string
  readonly advice: string
  /** When the service said a retry makes sense, epoch milliseconds. */
  readonly retryAt?: number
  readonly cause?: unknown
}> {
  override get message(): string {
    const status = this.status === undefined ? "" : ` answered ${this.status}`
    return `${this.operation}${status}: ${this.detail}. ${this.advice}`
  }
}

/** Failures that pass by themselves: the service is away, or asks to wait. A person must deal with all others. */
const passing: ReadonlySet<PartnerReason> = new Set(["Unreachable", "Timeout", "Unavailable", "RateLimited"])

/** Whether the same request may succeed later, with nothing changed on our side. */
export const isOutage = ({ reason }: PartnerError): boolean => passing.has(reason)

/** The service does not accept what a request asks for. */
export const isRejected = (error: unknown): error is PartnerError =>
  error instanceof PartnerError && error.reason === "Rejected"

/** The service no longer accepts a cursor that it gave out. */
export const isCursorExpired = (error: unknown): boolean =>
  error instanceof PartnerError && error.reason === "CursorExpired"
