/** Sends one request at a time, and describes the outcome without repeating the content of an answer. */
import { Effect, Either } from "effect"
import type { Answer } from "../Partner/Attempt.ts"
import type { PartnerError } from "../Partner/PartnerError.ts"
import type { Session } from "../Partner/Session.ts"
import type { Interface } from "../Settings/Interface.ts"

/** Left: this request failed. A failure of the effect means that no request can succeed. */
export type Ask = (
  kind: string,
  path: string,
  query?: string,
) => Effect.Effect<Either.Either<Answer, PartnerError>, PartnerError>

/** Whether every further request would fail, too: no token, an unreachable service, or a rate limit. */
const isFinal = ({ operation, reason }: PartnerError): boolean =>
  operation.startsWith("POST ") ||
  reason === "Unreachable" ||
  reason === "Untrusted" ||
  reason === "RateLimited"

/** Of an answer nothing is kept but names and types. */
const atOnce = (release: () => void): void => release()

export const asker =
  (session: Session): Ask =>
  (kind, path, query = "") =>
    Effect.catchAll(Effect.map(session.list(kind, path, { query, keep: atOnce }), Either.right), (error) =>
      isFinal(error) ? Effect.fail(error) : Effect.succeed(Either.left(error)),
    )

export const queryOf = (parameters: ReadonlyArray<readonly [string, string | number]>): string =>
  parameters.length === 0
    ? ""
    : `?${new URLSearchParams(parameters.map(([name, value]): [string, string] => [name, String(value)])).toString()}`

/** The size parameter of a profile, if it has one. */
export const sized = (
  { sizeParam }: Pick<Interface["paging"], "sizeParam">,
  size: number,
): ReadonlyArray<readonly [string, number]> => (sizeParam === null ? [] : [[sizeParam, size]])

const identifiers = /[0-9a-f]{8}-[0-9a-f-]{20,}|[A-Z0-9]*[0-9]{5,}[A-Z0-9]*/gi

/** Replaces details that may quote an unreadable answer or the service's data. */
const words: Partial<Record<PartnerError["reason"], string>> = {
  NotFound: "there is no such path",
  BadResponse: "the answer is not complete JSON",
  Unavailable: "the service fails at it",
}

/** The outcome as text, e.g. `answers 400: the request is refused (unknown parameter)`. */
export const outcomeText = ({ detail, reason, status }: PartnerError): string => {
  const answer = words[reason] ?? detail.replace(identifiers, "…")
  return status === undefined ? answer : `answers ${status}: ${answer}`
}
