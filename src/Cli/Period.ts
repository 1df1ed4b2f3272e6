/** Parses months and days; `name` is their name in messages. */
import { Either } from "effect"
import { isDate } from "../Common/Time.ts"
import { UsageError } from "./Failure.ts"

const refused = (name: string, found: string, expected: string) =>
  Either.left(
    new UsageError({ detail: `${name}: found ${JSON.stringify(found)}, expected ${expected}.`, advice: "" }),
  )

/** A calendar month of the accounting time zone, `2026-10`. */
export const parseMonth = (text: string, name = "--period"): Either.Either<string, UsageError> =>
  isDate(`${text}-01`) ? Either.right(text) : refused(name, text, "a month as YYYY-MM, such as 2026-10")

/** An existing calendar day, `2026-10-31`. */
export const parseDay = (text: string, name: string): Either.Either<string, UsageError> =>
  isDate(text) ? Either.right(text) : refused(name, text, "a day as YYYY-MM-DD, such as 2026-10-31")
