/** A book valued as of a time, and as of now beside it: in temporary tables, never in the kept ones. */
import { Effect } from "effect"
import type { Book } from "../../Book.ts"
import { beginJournal, copyMonth, dateJournal, endJournal } from "../BaseJournal.ts"
import { bookSettings, settingsThen } from "../KeptSettings.ts"
import { keptMethod, nothing, throughMonth, type ValuationOptions } from "../ValuedBook.ts"
import { bookMonths } from "./BookMonths.ts"

/** The months that a comparison or an export reads, `YYYY-MM`; null: without a beginning, without an end. */
export interface MonthRange {
  readonly first: string | null
  readonly last: string | null
}

/**
 * The journal as it would have been made at a time (`asOf`, as `resolveAsOf` gives it): of what was recorded by then, with
 * the rates that had been imported, by the settings that the book had last been valued by; a month that had been closed and
 * valued, and was not reopened since, as it is kept. Made in the caller's transaction as `then`, months before `first` without
 * their entries; without `writing` nothing is made. Gives the rates that had not been imported.
 */
export const valueBookThen = Effect.fn("Valuation.valueBookThen")(function* (
  book: Book,
  { first, last }: MonthRange,
  options: ValuationOptions,
  asOf: string,
  writing: boolean,
) {
  const { bookId } = book
  const months = yield* bookMonths(bookId, asOf)
  const settings = yield* settingsThen(
    bookId,
    asOf,
    bookSettings(book, options.baseCurrency, options.settings),
  )
  if (!writing) return yield* throughMonth(book, last, settings, months, { ...nothing, journal: null })
  yield* beginJournal("then")
  const missing = yield* throughMonth(book, last, settings, months, {
    ...nothing,
    journal: "then",
    stands: ({ period }) => copyMonth(bookId, period, "then", first === null || period >= first),
  })
  yield* dateJournal("then", asOf)
  yield* endJournal("then")
  return missing
})

/**
 * The journal as it would be made now, as `now` in the caller's transaction, to compare `then` with; what is kept stays as it
 * is, and a book goes on by the method of its closed months. Only months that differ have their entries, and the `last` one. Gives the rates that are missing: then it is not whole.
 */
export const valueBookNow = Effect.fn("Valuation.valueBookNow")(function* (
  book: Book,
  last: string | null,
  options: ValuationOptions,
  then: ReadonlyMap<string, string>,
) {
  const { bookId } = book
  const months = yield* bookMonths(bookId, null)
  const settings = bookSettings(book, options.baseCurrency, options.settings)
  const method = (yield* keptMethod(bookId, months)) ?? settings.method
  yield* beginJournal("now")
  const missing = yield* throughMonth(book, last, { ...settings, method }, months, {
    ...nothing,
    journal: "now",
    stands: ({ fingerprint, period }) =>
      copyMonth(bookId, period, "now", period === last || then.get(period) !== fingerprint),
  })
  yield* endJournal("now")
  return missing
})
