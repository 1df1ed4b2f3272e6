/** A request to the service, and how one attempt at it ended. `Requester.ts` sends it and retries. */

import { Effect } from "effect"
import { beyondBounds } from "../Common/JsonExtent.ts"
import type { SecretForm } from "../Common/SecretForms.ts"
import * as Fault from "./Fault.ts"
import type { Outcome } from "./Pacing/RequestGate.ts"
import type { PartnerError } from "./PartnerError.ts"
import { largestThing } from "./Room.ts"
import { complaint, sanitize } from "./Sanitize.ts"
import type { Bounds } from "./ServiceLimits.ts"
import * as Transport from "./Transport.ts"
import * as Hint from "./WaitHint.ts"
import type { Source } from "./Wire/RowDecoder.ts"

/** A whole answer: the parsed JSON, and the text it was parsed from. */
export interface Answer {
  readonly value: unknown
  readonly source: Source
  /** Epoch milliseconds, our clock, when the request was sent. */
  readonly requestedAt: number
  /** Epoch milliseconds, the service's clock when it answered (its `Date` header). */
  readonly servedAt: number | undefined
  /** Milliseconds from the request to the whole answer. */
  readonly took: number
}

/** Receives the function that gives an answer's room back, and calls it once the answer's content is no longer used. */
export type Keep = (release: () => void) => void

/** What to ask, and how to read a refusal. */
export interface Question {
  readonly kind: string
  /** Method and path without the query, for messages. */
  readonly operation: string
  readonly request: Transport.Request
  /** The forms of what must not be shown. */
  readonly secrets: ReadonlyArray<SecretForm>
  /** Takes over releasing a large answer's room; if absent, the room is given back as soon as the answer is parsed. */
  readonly keep?: Keep | undefined
  readonly ofStatus: typeof Fault.ofStatus
}

/** The request, made anew for each attempt at the moment that it leaves. */
export interface Inquiry {
  /** The kind of endpoint. */
  readonly kind: string
  /** Method and path without the query, for messages. */
  readonly operation: string
  /** Whether the request can leave now, by our clock: its token may have expired. */
  readonly isReady: (now: number) => boolean
  /** Gets what the request lacks, if it was not ready. */
  readonly prepare: Effect.Effect<void, PartnerError>
  /** Called right after `isReady` has returned true. */
  readonly question: () => Question
  /** Goes ahead of waiting requests, which need its answer. */
  readonly isUrgent: boolean
}

/** A request that needs nothing. */
export const urgent = (question: Question): Inquiry => ({
  kind: question.kind,
  operation: question.operation,
  isReady: () => true,
  prepare: Effect.void,
  question: () => question,
  isUrgent: true,
})

/**
 * How one attempt ended. Both waits come from the service, in milliseconds: `hold` until its quota is full again, for every
 * request; `hint` before a retry of this one.
 */
export type Attempt =
  | {
      readonly kind: "answer"
      readonly answer: Answer
      readonly status: number
      readonly hold: number | undefined
    }
  | { readonly kind: "failure"; readonly failure: Fault.Failure; readonly hint: number | undefined }

/** The longest that a used-up quota holds all requests back, in milliseconds. */
const longestQuotaHold = 60_000
/** Escapes of NUL and of surrogates: text with any of them is checked row by row. */
const suspectEscape = /\\u(?:0000|d[89a-f])/i

const readJson = (reply: Transport.Reply, requestedAt: number, now: number): Answer | undefined => {
  const servedAt = Hint.servedAt(reply.headers)
  const { text, valid } = Transport.textOf(reply.body)
  try {
    const value: unknown = JSON.parse(text)
    const suspect = !valid || suspectEscape.test(text)
    const took = Math.max(0, now - requestedAt)
    return { value, source: { text, suspect, replaced: !valid }, requestedAt, servedAt, took }
  } catch {
    return undefined
  }
}

/** By the bound of its answer. */
export const kindOf = ({ request: { limit } }: Question): Fault.AnswerKind =>
  limit === largestThing ? "thing" : "page"

/** Reads a reply: only complete JSON under a success counts as an answer. */
export const judge = (
  question: Question,
  reply: Transport.Reply,
  requestedAt: number,
  now: number,
): Attempt => {
  const { operation, secrets } = question
  const { status, headers, body } = reply
  if (status === 204) {
    const isThing = question.kind !== "token" && kindOf(question) === "thing"
    return { kind: "failure", failure: Fault.ofNoContent(operation, isThing), hint: undefined }
  }
  if (status >= 200 && status < 300) {
    const beyond = beyondBounds(body)
    if (beyond !== undefined)
      return {
        kind: "failure",
        failure: Fault.ofExtent(operation, beyond, kindOf(question)),
        hint: undefined,
      }
    const answer = readJson(reply, requestedAt, now)
    if (answer !== undefined) {
      const left = Hint.quota(headers, now)
      const hold =
        left !== undefined && left.remaining === 0 ? Math.min(left.reset, longestQuotaHold) : undefined
      return { kind: "answer", answer, status, hold }
    }
    const contentType = sanitize(String(headers["content-type"] ?? ""), secrets, 60)
    // A token endpoint may have answered with part of a token, which `secrets` does not contain yet.
    const beginning =
      question.kind === "token" && body.length > 0
        ? `${body.length} bytes`
        : sanitize(body.toString("utf8", 0, 16_384), secrets, 80)
    return {
      kind: "failure",
      failure: Fault.ofBody(operation, status, contentType, beginning),
      hint: undefined,
    }
  }
  const words = complaint(body.toString("utf8", 0, 16_384))
  const said = words === undefined ? undefined : sanitize(words, secrets, 160)
  return {
    kind: "failure",
    failure: question.ofStatus({
      operation,
      status,
      said,
      slash: Fault.slashAdvice(question.request.path, headers.location),
    }),
    hint: Hint.wait(headers, now),
  }
}

/** What an attempt tells the pace. */
export const outcomeOf = (attempt: Attempt, bounds: Bounds): Outcome => {
  if (attempt.kind === "answer") return { kind: "accepted", hold: attempt.hold }
  const { error, retry } = attempt.failure
  const hold = attempt.hint === undefined ? undefined : Math.min(attempt.hint, bounds.retryAfterCap)
  if (retry === "limited") return { kind: "refused", hold }
  if (retry === "transient" || error.reason === "Untrusted") return { kind: "failed", hold }
  return { kind: error.status === undefined ? "returned" : "accepted" }
}
