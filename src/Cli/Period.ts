/** Parses months and days; `name` is their name in messages. */
import { Either } from "effect"
import { UsageError } from "./Failure.ts"

const refused = (name: string, found: string, expected: string) =>
  Either.left(
    new UsageError({ detail: `${name}: found ${JSON.stringify(found)}, expected ${expected}.`, advice: "" }),
  )

/** A calendar month of the accounting time zone, `2026-10`. */
export const parseMonth = (text: string, name = "--period"): Either.Either<string, UsageError> =>
  /^\d{4}-(?:0[1-9]|1[0-2])$/.test(text)
    ? Either.right(text)
    : refused(name, text, "a month as YYYY-MM, such as 2026-10")

/** An existing calendar day, `2026-10-31`. */
export const parseDay = (text: string, name: string): Either.Either<string, UsageError> => {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00.000Z`) : Number.NaN
  // Some engines roll 2026-02-30 over to March: only a day that prints as itself exists.
  const exists = !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
  return exists ? Either.right(text) : refused(name, text, "a day as YYYY-MM-DD, such as 2026-10-31")
}
