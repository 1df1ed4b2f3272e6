/** Months whose kept valuation is not what they would be valued as now: rates, settings or entries came since. */
import { Effect } from "effect"
import type { Book } from "../../Book.ts"
import { Database } from "../../Database.ts"
import { bookSettings } from "../KeptSettings.ts"
import { bookMonths } from "../Months/BookMonths.ts"
import { inputsOf } from "../Months/MonthInputs.ts"
import { nativeAccounts } from "../Natives.ts"
import { monthHeads } from "../Store.ts"
import { standsAs, type ValuationOptions } from "../ValuedBook.ts"

const through = Effect.fn("Valuation.overtaken.months")(function* (book: Book, options: ValuationOptions) {
  const heads = yield* monthHeads(book.bookId, null)
  const overtaken: Array<string> = []
  if (heads.length === 0) return overtaken
  const months = yield* bookMonths(book.bookId, null)
  const settings = bookSettings(book, options.baseCurrency, options.settings)
  const accounts = yield* nativeAccounts(book.bookId, settings.monetaryRoles)
  // What begins earlier now goes on from a month that is not valued yet.
  const begins = heads[0] === undefined || months.first === null || heads[0].period <= months.first
  let previous = begins ? "" : "not valued"
  for (const head of heads) {
    const inputs = yield* inputsOf(head.period, previous, months, accounts, settings)
    const stands = yield* standsAs(book, head, inputs, months)
    if (!stands) overtaken.push(head.period)
    previous = stands ? head.fingerprint : inputs.head.fingerprint
  }
  return overtaken
})

/**
 * `YYYY-MM`, the earliest first. A month that goes on from one of them is one of them. Nothing is valued or written. Fails where
 * a closed month is kept in another base currency.
 */
export const overtakenMonths = Effect.fn("Valuation.overtaken")(function* (
  book: Book,
  options: ValuationOptions,
) {
  const database = yield* Database
  return yield* database.transaction(through(book, options), { isolation: "repeatable read", readOnly: true })
})
