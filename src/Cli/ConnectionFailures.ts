/** What a command over several connections says of those for which it failed. */
import { Either } from "effect"
import { harmlessLines } from "../Common/Text.ts"
import type { Failure } from "./FailureDocument.ts"

/** Undefined where it did not fail. */
interface OfConnection {
  readonly connection: string
  readonly failure: Failure | undefined
}

export const withFailure = <A>({
  connection,
  result,
}: {
  readonly connection: string
  readonly result: Either.Either<A, Failure>
}): OfConnection => ({ connection, failure: Either.isLeft(result) ? result.left : undefined })

export const unfinished = (connection: string, { message }: Failure): string =>
  `${connection} did not finish: ${harmlessLines(message)}`

/** The failures among the outcomes; of several connections, each names its own. */
export const failuresIn = (outcomes: ReadonlyArray<OfConnection>): ReadonlyArray<Failure> =>
  outcomes.flatMap(({ connection, failure }) => {
    if (failure === undefined) return []
    return outcomes.length === 1 ? [failure] : [{ ...failure, message: unfinished(connection, failure) }]
  })
