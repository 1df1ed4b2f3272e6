/**
 * The base-currency journal: every month of a book valued in order, each from the state of the month before. A month whose
 * inputs have not changed is not valued again; one that is closed keeps its valuation for good.
 */
import { Effect, Stream } from "effect"
import type { Book } from "./Book.ts"
import { Database } from "./Database.ts"
import { scaleOf } from "./Money/Currency.ts"
import type { Valuation as ValuationSettings } from "./Settings/Accounting.ts"
import type { Chart } from "./Settings/Chart.ts"
import { type Rules, Unvaluable } from "./Valuation/Flow.ts"
import { type MissingRate, missingRates } from "./Valuation/Missing.ts"
import { covers, inputsOf, lookupOf, type MonthInputs, nextMonth } from "./Valuation/MonthInputs.ts"
import { bookMonths, nativeAccounts, nativeEntries, paidIn } from "./Valuation/Natives.ts"
import { baseScale, type Rate } from "./Valuation/Rate.ts"
import { emptyState, printState, readState, type State } from "./Valuation/State.ts"
import {
  beginMonth,
  endMonth,
  keepAccounts,
  type MonthHead,
  monthHeads,
  storedState,
  writeEntries,
} from "./Valuation/Store.ts"
import { valuationError } from "./Valuation/ValuationError.ts"
import { valuedMonth } from "./Valuation/ValuedMonth.ts"

export interface ValuationOptions {
  readonly baseCurrency: string
  readonly settings: ValuationSettings
  readonly chart: Pick<Chart, "fx_realized" | "fx_unrealized" | "rounding">
}

const monthsFrom = (first: string, last: string): ReadonlyArray<string> => {
  const months: Array<string> = []
  for (let month = first; month <= last; month = nextMonth(month)) months.push(month)
  return months
}

const noRate: Rate = { numerator: 0n, denominator: 1n, text: "", date: "", source: "" }

/** Values a month, and writes it unless rates are missing: then it goes on, to find them all, and nothing is kept. */
const valueMonth = Effect.fn("Valuation.valueMonth")(
  function* (book: Book, inputs: MonthInputs, state: State, missing: Array<MissingRate>, writing: boolean) {
    const { frame, head } = inputs
    const lookup = yield* lookupOf(book, inputs)
    const paid = yield* paidIn(book.bookId, frame.firstDay, head.throughNumber, head.baseCurrency)
    const rules: Rules = {
      paid,
      baseCurrency: head.baseCurrency,
      method: head.method === "fifo" ? "fifo" : "average",
      rateOn: (currency, date) => {
        const rate = lookup(currency, date)
        if (rate === undefined) {
          const when = head.rates === "file" ? date : head.period
          missing.push({ date: when, from: currency, to: head.baseCurrency })
        }
        return rate ?? noRate
      },
    }
    const month = valuedMonth(frame, state, rules)
    const write = (make: () => Parameters<typeof writeEntries>[2]) =>
      Effect.flatMap(
        Effect.suspend(() => Effect.sync(make)),
        (entries) =>
          writing && missing.length === 0 ? writeEntries(book.bookId, head.period, entries) : Effect.void,
      )
    if (writing) yield* beginMonth(book.bookId, head)
    yield* write(month.begin)
    yield* Stream.runForEach(
      nativeEntries(book.bookId, frame.firstDay, head.throughNumber, frame.accounts),
      (entries) => write(() => entries.flatMap(month.take)),
    )
    yield* write(month.end)
    if (writing) yield* endMonth(book.bookId, head.period, printState(state))
  },
  (effect, book, { head }) =>
    Effect.catchAllDefect(effect, (defect) =>
      defect instanceof Unvaluable
        ? valuationError(
            "Disagrees",
            `${head.period} of book ${book.code} cannot be valued: ${defect.message}. Nothing was written of it.`,
          )
        : Effect.die(defect),
    ),
)

const checkClosed = (book: Book, kept: MonthHead, baseCurrency: string) =>
  kept.baseCurrency === baseCurrency
    ? Effect.void
    : valuationError(
        "Closed",
        `${kept.period} of book ${book.code} is closed and valued in ${kept.baseCurrency}: it stays so. Set accounting.baseCurrency to ${kept.baseCurrency}, or reopen the month first.`,
      )

/** One book through a month, as far as months have entries or have begun. Part of the caller's transaction. */
const valueBook = Effect.fn("Valuation.valueBook")(function* (
  book: Book,
  wanted: string | null,
  options: ValuationOptions,
  writing: boolean,
) {
  const database = yield* Database
  // One valuation of a book at a time; postings, numbers and closes go on.
  yield* database.query(
    "Valuation.lock",
    (sql) => sql`select pg_advisory_xact_lock(hashtextextended('tieout valuation', ${book.bookId}))`,
  )
  const missing: Array<MissingRate> = []
  const months = yield* bookMonths(book.bookId)
  if (months.first === null || months.last === null) return missing
  const [, latest] = [months.last, months.current].sort()
  const [through = months.last] = [wanted ?? months.last, latest].sort()
  if (writing) yield* keepAccounts(book.bookId, options.baseCurrency, options.chart, book.code)
  const accounts = yield* nativeAccounts(book.bookId)
  const known = new Map((yield* monthHeads(book.bookId)).map((head) => [head.period, head]))
  let previous = ""
  let before: string | null = null
  let state: State | undefined
  for (const period of monthsFrom(months.first, through)) {
    const found = known.get(period)
    const closed = months.closedThrough !== null && period <= months.closedThrough
    if (found !== undefined && closed) yield* checkClosed(book, found, options.baseCurrency)
    const inputs = yield* inputsOf(book, period, previous, months, accounts, options)
    const stands =
      found !== undefined &&
      (found.fingerprint === inputs.head.fingerprint || (closed && (yield* covers(found, inputs))))
    if (stands) {
      state = undefined
      previous = found.fingerprint
    } else {
      if (state === undefined) {
        const text = before === null ? undefined : yield* storedState(book.bookId, before)
        state = text === undefined ? emptyState() : yield* readState(text)
      }
      yield* valueMonth(book, inputs, state, missing, writing)
      previous = inputs.head.fingerprint
    }
    before = period
  }
  return missing
})

const checkBase = (baseCurrency: string) =>
  scaleOf(baseCurrency) === baseScale
    ? Effect.void
    : valuationError(
        "Usage",
        `accounting.baseCurrency is ${baseCurrency}: the base-currency journal has two decimals, and so must its currency.`,
      )

/**
 * Brings the base-currency journal of the books up to a month (`YYYY-MM`; null: the last that has entries), each book in a
 * transaction of its own. Several books are gone through before any is written, so that nothing changes at all where rates
 * are missing: the error lists every one, of all books.
 */
export const value = Effect.fn("Valuation.value")(function* (
  books: ReadonlyArray<Book>,
  through: string | null,
  options: ValuationOptions,
) {
  const database = yield* Database
  const source = options.settings.rates
  yield* checkBase(options.baseCurrency)
  if (books.length > 1) {
    const missing = yield* Effect.forEach(books, (book) =>
      database.transaction(valueBook(book, through, options, false)),
    )
    if (missing.some(({ length }) => length > 0)) return yield* missingRates(missing.flat(), source)
  }
  for (const book of books) {
    const unwritten = books.length > 1 ? `Nothing was written of book ${book.code}.` : undefined
    yield* database.transaction(
      Effect.flatMap(valueBook(book, through, options, true), (missing) =>
        // Of several books this can only be one that got entries since it was gone through.
        missing.length > 0 ? missingRates(missing, source, unwritten) : Effect.void,
      ),
    )
  }
})
