import { Data } from "effect"

export type ValuationReason =
  /** The base currency cannot be used: exit code 2. */
  | "Usage"
  /** Rates that are needed are not there: exit code 2. */
  | "MissingRates"
  /** A closed month was valued in another base currency, and keeps that: exit code 2. */
  | "Closed"
  /** The month's entries are archived, and it was never valued: exit code 2. */
  | "Archived"
  /** The amounts to book do not add up: nothing is written. */
  | "Disagrees"

/** `message` says what, where and what to do. Nothing was written. */
export class ValuationError extends Data.TaggedError("ValuationError")<{
  readonly reason: ValuationReason
  readonly message: string
}> {}

export const valuationError = (reason: ValuationReason, message: string): ValuationError =>
  new ValuationError({ reason, message })

/** Thrown where amounts do not add up, by a mistake of ours or in the books. No line is made up to balance them. */
export class Unvaluable extends Error {
  override readonly name = "Unvaluable"
}
