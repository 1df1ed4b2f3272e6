/** Asks the service one thing at a time, and says what became of it without repeating what an answer held. */
import { Effect, Either } from "effect"
import type { Answer } from "../Partner/Attempt.ts"
import type { Session } from "../Partner/Session.ts"
import type { PartnerError } from "../Partner.ts"
import type { Interface } from "../Settings/Interface.ts"

/** Left: this one thing cannot be had. A failure means that nothing can. */
export type Ask = (
  kind: string,
  path: string,
  query?: string,
) => Effect.Effect<Either.Either<Answer, PartnerError>, PartnerError>

/** Without a token nothing goes on, nor with a service that cannot be reached or wants to be left alone. */
const isFinal = ({ operation, reason }: PartnerError): boolean =>
  operation.startsWith("POST ") || reason === "Unreachable" || reason === "RateLimited"

export const asker =
  (session: Session): Ask =>
  (kind, path, query) =>
    Effect.catchAll(Effect.map(session.get(kind, path, query), Either.right), (error) =>
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

/** In place of what an answer that could not be read began with, or of what the service says about its own data. */
const words: Partial<Record<PartnerError["reason"], string>> = {
  NotFound: "there is no such path",
  BadResponse: "the answer is not complete JSON",
  Unavailable: "the service fails at it",
}

/** What was seen, e.g. `answers 400: the request is refused (unknown parameter)`. */
export const seen = ({ detail, reason, status }: PartnerError): string => {
  const said = words[reason] ?? detail.replace(identifiers, "…")
  return status === undefined ? said : `answers ${status}: ${said}`
}
