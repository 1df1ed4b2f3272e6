/** Builds the errors of the port: what was seen at the service, and what to do about it. */
import type { Limits } from "../Settings/Limits.ts"
import { PartnerError, type PartnerReason } from "./PartnerError.ts"
import type { TransportFault } from "./TransportFault.ts"

/** A failed attempt, and whether a retry may help: `transient` may pass by itself, `limited` passes with time. */
export interface Failure {
  readonly error: PartnerError
  readonly retry: "never" | "transient" | "limited"
}

interface Seen {
  readonly operation: string
  readonly status: number
  /** The service's own message, already sanitized. */
  readonly said: string | undefined
  /** What to do about a redirect; undefined: what is usual. */
  readonly slash?: string | undefined
}

const retried: ReadonlySet<number> = new Set([408, 425, 500, 502, 503, 504])
/** The last 5xx that HTTP defines. A further one, such as a proxy's 520, counts as 500 (RFC 9110, 15). */
const lastDefined = 505
const mayPass = (status: number): boolean => retried.has(status) || status > lastDefined

const reasonOf = (status: number): PartnerReason => {
  if (status >= 300 && status < 400) return "RedirectRefused"
  if (status === 401) return "Unauthorized"
  if (status === 403) return "Forbidden"
  if (status === 404 || status === 410) return "NotFound"
  if (status === 429) return "RateLimited"
  // 501 and 505 say of the request that the service never serves it: no later run would get another answer.
  return mayPass(status) ? "Unavailable" : "Rejected"
}

const detailOf: Readonly<Record<PartnerReason, string>> = {
  RedirectRefused: "it sends the request elsewhere, which is not followed",
  Unauthorized: "the token was refused, and so was a fresh one",
  Forbidden: "access is denied",
  NotFound: "there is no such thing",
  RateLimited: "too many requests",
  Unavailable: "the service cannot answer now",
  Rejected: "the request is refused",
  BadResponse: "the answer is not what was expected",
  TooLarge: "the answer is too large",
  Unreachable: "the service cannot be reached",
  Untrusted: "its certificate is refused",
  Timeout: "no answer in time",
  CursorLoop: "the list does not end",
  CursorExpired: "the cursor is not accepted any more",
}

const adviceOf: Readonly<Record<PartnerReason, string>> = {
  RedirectRefused: "Set the base address to where the service really is",
  Unauthorized: "Check that the credentials belong to this base address, and the scope (TIEOUT_SCOPE)",
  Forbidden: "Check that the scope issued to you covers this (TIEOUT_SCOPE)",
  NotFound:
    "Check the base address, and the path in `interface.paths` or `interface.clientPaths`; where others answer at the same path, ask the partner about this one",
  RateLimited: "Run again later; nothing is lost",
  Unavailable: "Run again later; nothing is lost",
  Rejected: "Check the names in the `interface` section of the settings",
  BadResponse: "Check that the base address is the service's, and not a proxy's or a login page's",
  TooLarge: "Set a smaller `interface.paging.size`, or a larger `limits.maxBodyBytes`",
  Unreachable: "Check the base address, the network and the proxy",
  Untrusted:
    "Check the base address; a certificate of an authority of your own, such as a proxy's, is named in NODE_EXTRA_CA_CERTS",
  Timeout: "Check the network; run again later, nothing is lost",
  CursorLoop: "Check `interface.paging.cursorParam` and `interface.paging.pageInfoField`",
  CursorExpired:
    "So were others, and the list did not get to its end from its start: check the `interface.paging` section, then run again",
}

/** `setting`: the bound of `limits` that was reached. */
export const make = (
  reason: PartnerReason,
  operation: string,
  more: {
    readonly detail?: string
    readonly advice?: string
    readonly setting?: keyof Limits | undefined
    readonly status?: number
    readonly retryAt?: number
  } = {},
): PartnerError =>
  new PartnerError({
    reason,
    operation,
    detail: more.detail ?? detailOf[reason],
    advice:
      more.setting === undefined
        ? (more.advice ?? adviceOf[reason])
        : `${adviceOf[reason]}. If that is how the service is, set a larger \`limits.${more.setting}\``,
    ...(more.status === undefined ? {} : { status: more.status }),
    ...(more.retryAt === undefined ? {} : { retryAt: more.retryAt }),
  })

/** What to do about a redirect from a path to itself with a slash more or less at its end; else nothing of its own. */
export const slashAdvice = (path: string, location: unknown): string | undefined => {
  if (typeof location !== "string") return undefined
  const asked = new URL(`http://service.invalid${path}`)
  if (!URL.canParse(location, asked.href)) return undefined
  const { pathname } = new URL(location, asked)
  const where = "Write its path in `interface.paths` or `interface.clientPaths`"
  if (pathname === `${asked.pathname}/`) return `${where} with a slash at its end`
  return `${pathname}/` === asked.pathname ? `${where} without the slash at its end` : undefined
}

/** An answer whose status is not a success. */
export const ofStatus = ({ operation, said, slash, status }: Seen): Failure => {
  const reason = reasonOf(status)
  const detail = said === undefined ? detailOf[reason] : `${detailOf[reason]} (${said})`
  const error = make(reason, operation, {
    status,
    detail,
    ...(reason === "RedirectRefused" && slash !== undefined ? { advice: slash } : {}),
  })
  if (status === 429) return { error, retry: "limited" }
  return { error, retry: mayPass(status) ? "transient" : "never" }
}

/** The token endpoint's refusals are about the credentials, whatever their status. */
export const ofTokenStatus = (seen: Seen): Failure => {
  if (seen.status === 404 || seen.status === 405 || seen.status === 410) {
    const advice =
      "Check TIEOUT_BASE_URL: it holds the path, too (https://host/api/v1); else `interface.paths.token`"
    const { operation, status } = seen
    const detail = "there is no token to be had at this address"
    // Never `NotFound`, which would mean that the thing to be read does not exist.
    return { error: make("Unauthorized", operation, { status, detail, advice }), retry: "never" }
  }
  if (seen.status !== 400 && seen.status !== 401 && seen.status !== 403) return ofStatus(seen)
  const detail = `the credentials are refused${seen.said === undefined ? "" : ` (${seen.said})`}`
  const advice = /\binvalid_scope\b|\bscopes?\b/i.test(seen.said ?? "")
    ? "Check TIEOUT_SCOPE: exactly the scopes that were issued to this client, separated by spaces"
    : "Check TIEOUT_CLIENT_ID, TIEOUT_CLIENT_SECRET and TIEOUT_SCOPE, and that they belong to this base address"
  return {
    error: make("Unauthorized", seen.operation, { status: seen.status, detail, advice }),
    retry: "never",
  }
}

/** What may be done about an answer beyond the bound of its kind, which `limits.maxBodyBytes` does not move. */
const adviceOfKind = {
  page: "Set a smaller `interface.paging.size`; if the service does not heed it, ask its operators",
  thing:
    "No setting admits more, since no such thing has a tenth of that: ask the service's operators what it holds",
} as const

/** A page of a list, or one thing that is asked for by its identifier. */
export type AnswerKind = keyof typeof adviceOfKind

/** A success that holds more than any answer of its kind. */
export const ofExtent = (operation: string, what: string, kind: AnswerKind = "page"): Failure => ({
  error: make("TooLarge", operation, {
    detail: `the answer is too large: ${what}`,
    advice: adviceOfKind[kind],
  }),
  retry: "never",
})

const reasonOfFault: Readonly<Record<TransportFault["kind"], PartnerReason>> = {
  untrusted: "Untrusted",
  network: "Unreachable",
  timeout: "Timeout",
  garbled: "BadResponse",
  tooLarge: "TooLarge",
  crowded: "Unavailable",
}

/** `bound`: the kind of answer whose own bound applied; undefined: `limits.maxBodyBytes` did. */
export const ofTransport = (operation: string, fault: TransportFault, bound?: AnswerKind): Failure => ({
  error: make(reasonOfFault[fault.kind], operation, {
    detail: fault.detail,
    setting: fault.setting,
    ...(fault.kind === "tooLarge" && bound !== undefined ? { advice: adviceOfKind[bound] } : {}),
    ...(fault.advice === undefined ? {} : { advice: fault.advice }),
  }),
  retry: fault.kind === "untrusted" || fault.kind === "tooLarge" ? "never" : "transient",
})

/** A success that says that it has no content. Of one thing, which has no other way to be empty: there is none. */
export const ofNoContent = (operation: string, isThing: boolean): Failure => ({
  error: isThing
    ? make("NotFound", operation, { status: 204 })
    : make("BadResponse", operation, { status: 204, detail: "the answer has no content" }),
  retry: "never",
})

/** A success whose body is not complete JSON. */
export const ofBody = (
  operation: string,
  status: number,
  contentType: string,
  beginning: string,
): Failure => {
  const detail =
    beginning === ""
      ? "the answer is empty, not JSON"
      : `the answer is not complete JSON (${contentType === "" ? "no content type" : contentType}): ${beginning}`
  return { error: make("BadResponse", operation, { status, detail }), retry: "transient" }
}
