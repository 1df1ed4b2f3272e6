/** Months whose kept valuation is out of date: rates, settings or entries have changed since. */
import { Effect } from "effect"
import type { Book } from "../../Book.ts"
import { Database } from "../../Database.ts"
import { monthHeads } from "../KeptMonths.ts"
import { bookSettings } from "../KeptSettings.ts"
import { bookMonths } from "../Months/BookMonths.ts"
import { inputsOf } from "../Months/MonthInputs.ts"
import { nativeAccounts } from "../Natives.ts"
import { isUpToDate, type ValuationOptions } from "../ValuedBook.ts"

const through = Effect.fn("Valuation.overtaken.months")(function* (book: Book, options: ValuationOptions) {
  const heads = yield* monthHeads(book.bookId, null)
  const overtaken: Array<string> = []
  if (heads.length === 0) return overtaken
  const months = yield* bookMonths(book.bookId, null)
  const settings = bookSettings(book, options.baseCurrency, options.settings)
  const accounts = yield* nativeAccounts(book.bookId, settings.monetaryRoles)
  // A book that now begins earlier continues from a month that is not valued yet.
  const begins = heads[0] === undefined || months.first === null || heads[0].period <= months.first
  let previous = begins ? "" : "not valued"
  for (const head of heads) {
    const inputs = yield* inputsOf(head.period, previous, months, accounts, settings)
    const stands = yield* isUpToDate(book, head, inputs, months)
    if (!stands) overtaken.push(head.period)
    previous = stands ? head.fingerprint : inputs.head.fingerprint
  }
  return overtaken
})

/**
 * `YYYY-MM`, the earliest first. A month that continues an out-of-date month is out of date, too. Values and writes nothing.
 * Fails where a closed month is kept in another base currency.
 */
export const overtakenMonths = Effect.fn("Valuation.overtaken")(function* (
  book: Book,
  options: ValuationOptions,
) {
  const database = yield* Database
  return yield* database.transaction(through(book, options), { isolation: "repeatable read", readOnly: true })
})
