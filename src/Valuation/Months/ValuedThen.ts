/** Values a book as of an earlier time, and as of now to compare the two: in temporary tables, never in the kept ones. */
import { Effect } from "effect"
import type { Book } from "../../Book.ts"
import { beginJournal, copyMonth, dateJournal, endJournal } from "../BaseJournal.ts"
import { bookSettings, settingsThen } from "../KeptSettings.ts"
import { keptMethod, leaveUpToDate, throughMonth, type ValuationOptions } from "../ValuedBook.ts"
import { bookMonths } from "./BookMonths.ts"

/** The months that a comparison or an export reads, `YYYY-MM`; null: unbounded. */
export interface MonthRange {
  readonly first: string | null
  readonly last: string | null
}

/**
 * The base-currency journal as of `asOf` (from `resolveAsOf`): entries recorded by then, with rates imported by then and the
 * settings of the book's last valuation before. A month that was closed and valued by then, and not reopened since, is copied
 * from the kept journal. Written in the caller's transaction as `then`, months before `first` without their entries; with
 * `writing` false nothing is written. Returns the rates that had not been imported.
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
  if (!writing) return yield* throughMonth(book, last, settings, months, { ...leaveUpToDate, journal: null })
  yield* beginJournal("then")
  const missing = yield* throughMonth(book, last, settings, months, {
    ...leaveUpToDate,
    journal: "then",
    whenUpToDate: ({ period }) => copyMonth(bookId, period, "then", first === null || period >= first),
  })
  yield* dateJournal("then", asOf)
  yield* endJournal("then")
  return missing
})

/**
 * The base-currency journal as of now, written in the caller's transaction as `now`, to compare with `then`. The kept journal
 * stays as it is, and a book continues with the method of its closed months. Only months that differ, and the `last` one,
 * have their entries. Returns the missing rates: where there are any, the journal is incomplete.
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
    ...leaveUpToDate,
    journal: "now",
    whenUpToDate: ({ fingerprint, period }) =>
      copyMonth(bookId, period, "now", period === last || then.get(period) !== fingerprint),
  })
  yield* endJournal("now")
  return missing
})
