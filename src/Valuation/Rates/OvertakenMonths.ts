/** Months whose kept valuation is out of date: rates, settings or entries have changed since. */
import { Effect } from "effect"
import type { Book } from "../../Book.ts"
import { shiftDate } from "../../Common/Time.ts"
import { Database } from "../../Database.ts"
import { monthHeads } from "../KeptMonths.ts"
import { bookSettings } from "../KeptSettings.ts"
import { bookMonths } from "../Months/BookMonths.ts"
import { daysOf, inputsOf } from "../Months/MonthInputs.ts"
import { nativeAccounts } from "../Natives.ts"
import { isUpToDate, monthsFrom, type ValuationOptions } from "../ValuedBook.ts"
import { corrects } from "./RateStore.ts"

type Wanted = Pick<ValuationOptions, "baseCurrency" | "settings">

/** `last`: the last month that is looked at, `YYYY-MM`; null: all. */
const through = Effect.fn("Valuation.overtaken.months")(function* (
  book: Book,
  options: Wanted,
  last: string | null,
) {
  const all = yield* monthHeads(book.bookId, null)
  const heads = last === null ? all : all.filter(({ period }) => period <= last)
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

/** Closed months, `YYYY-MM`, that keep the rates of their close. */
export interface KeptRates {
  readonly months: ReadonlyArray<string>
  /** Those of them that are archived: the others may be reopened. */
  readonly archived: ReadonlyArray<string>
}

/** The closed months that keep a rate which an import corrects from the day `first` on: only reopening them lets it count. */
export const keptMonths = Effect.fn("Valuation.kept")(function* (
  { bookId }: Book,
  { baseCurrency, settings }: Wanted,
  version: number,
  first: string,
) {
  const none: KeptRates = { months: [], archived: [] }
  if (settings.rates !== "file") return none
  const { archivedThrough, first: begins, keptThrough } = yield* bookMonths(bookId, null)
  if (begins === null || keptThrough === null) return none
  const kept: Array<string> = []
  const accounts = yield* nativeAccounts(bookId, settings.monetaryRoles)
  for (const period of monthsFrom(begins, keptThrough)) {
    const [firstDay, lastDay] = daysOf(period)
    if (lastDay < first) continue
    const used = accounts.filter(({ since }) => since !== null && since <= period)
    const currencies = [...new Set(used.map(({ currency }) => currency))].filter(
      (one) => one !== baseCurrency,
    )
    const days = { from: shiftDate(firstDay, -settings.maxRateAgeDays), to: lastDay }
    if (yield* corrects(version, baseCurrency, currencies, days)) kept.push(period)
  }
  const archived = kept.filter((period) => archivedThrough !== null && period <= archivedThrough)
  return { months: kept, archived } satisfies KeptRates
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
  return yield* database.transaction(through(book, options, null), {
    isolation: "repeatable read",
    readOnly: true,
  })
})

/**
 * Whether valuing the month, `YYYY-MM`, would change it. Not where a closed month is kept in another base currency or by another
 * method: then it is not valued at all. Part of the caller's transaction.
 */
export const isOvertaken = (book: Book, options: Wanted, period: string) =>
  through(book, options, period).pipe(
    Effect.map((months) => months.includes(period)),
    Effect.catchTag("ValuationError", () => Effect.succeed(false)),
  )
