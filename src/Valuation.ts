/**
 * The base-currency journal: every month of a book valued in order, each from the state of the month before. A month whose
 * inputs have not changed is not valued again; one that is closed keeps its valuation for good.
 */
import { createHash } from "node:crypto"
import { Effect, Stream } from "effect"
import type { Book } from "./Book.ts"
import { Database } from "./Database.ts"
import { shiftDate } from "./Export/PlainText.ts"
import { scaleOf } from "./Money/Currency.ts"
import type { Valuation as ValuationSettings } from "./Settings/Accounting.ts"
import type { Chart } from "./Settings/Chart.ts"
import type { NativeAccount } from "./Valuation/Base.ts"
import { type Rules, Unvaluable } from "./Valuation/Flow.ts"
import { type MissingRate, missingRates } from "./Valuation/Missing.ts"
import { type BookMonths, bookMonths, nativeAccounts, nativeEntries } from "./Valuation/Natives.ts"
import { baseScale, type Rate } from "./Valuation/Rate.ts"
import { exchangedIn, ratesBetween, ratesVersion } from "./Valuation/RateStore.ts"
import { fromConversions, fromRows } from "./Valuation/RateTable.ts"
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
import { type MonthFrame, valuedMonth } from "./Valuation/ValuedMonth.ts"

export interface ValuationOptions {
  readonly baseCurrency: string
  readonly settings: ValuationSettings
  readonly chart: Pick<Chart, "fx_realized" | "fx_unrealized" | "rounding">
}

/** Part of every fingerprint: a change of the rules values open months again. */
const rulesVersion = 1

const nextMonth = (period: string): string => shiftDate(`${period}-01`, 31).slice(0, 7)

const lastDayOf = (period: string): string => shiftDate(`${nextMonth(period)}-01`, -1)

const monthsFrom = (first: string, last: string): ReadonlyArray<string> => {
  const months: Array<string> = []
  for (let month = first; month <= last; month = nextMonth(month)) months.push(month)
  return months
}

const digest = (parts: unknown): string => createHash("sha256").update(JSON.stringify(parts)).digest("hex")

interface MonthInputs {
  readonly head: MonthHead
  readonly lookup: (currency: string, date: string) => Rate | undefined
  readonly frame: MonthFrame
}

const inputsOf = Effect.fn("Valuation.inputsOf")(function* (
  book: Book,
  period: string,
  previous: string,
  months: BookMonths,
  all: ReadonlyArray<NativeAccount>,
  { baseCurrency, settings }: ValuationOptions,
) {
  // Those that are used later change nothing in this month.
  const accounts = all.filter(({ since }) => since !== null && since <= period)
  const frame: MonthFrame = {
    firstDay: `${period}-01`,
    lastDay: lastDayOf(period),
    over: period < months.current,
    accounts,
  }
  const through = months.numbers.get(period) ?? 0
  const { maxRateAgeDays, rates } = settings
  const method = settings.books[book.code]?.method ?? settings.method
  const currencies = [...new Set(accounts.map(({ currency }) => currency))].filter(
    (one) => one !== baseCurrency,
  )
  const since = shiftDate(frame.firstDay, -maxRateAgeDays)
  const rows = rates === "file" ? yield* ratesBetween(baseCurrency, currencies, since, frame.lastDay) : []
  const exchanged =
    rates === "conversions" ? yield* exchangedIn(book.bookId, frame.firstDay, through, baseCurrency) : []
  const lookup =
    rates === "file"
      ? fromRows(rows, baseCurrency, maxRateAgeDays)
      : fromConversions(exchanged, frame.lastDay)
  const monetary = accounts.filter((account) => account.monetary).map(({ accountId }) => accountId)
  const fingerprint = digest([
    rulesVersion,
    previous,
    period,
    frame.over,
    through,
    baseCurrency,
    method,
    rates,
    maxRateAgeDays,
    monetary,
    rows,
  ])
  const head: MonthHead = {
    period,
    baseCurrency,
    method,
    rates,
    maxRateAgeDays,
    ratesVersion: yield* ratesVersion(),
    fingerprint,
    previous,
    throughNumber: through,
    over: frame.over,
  }
  return { head, lookup, frame } satisfies MonthInputs
})

const noRate: Rate = { numerator: 0n, denominator: 1n, text: "", date: "", source: "" }

/** Values a month and writes it. Where rates are missing it goes on, to find them all; the transaction is then undone. */
const valueMonth = Effect.fn("Valuation.valueMonth")(
  function* (book: Book, { frame, head, lookup }: MonthInputs, state: State, missing: Array<MissingRate>) {
    const rules: Rules = {
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
        (entries) => (missing.length > 0 ? Effect.void : writeEntries(book.bookId, head.period, entries)),
      )
    yield* beginMonth(book.bookId, head)
    yield* write(month.begin)
    yield* Stream.runForEach(
      nativeEntries(book.bookId, frame.firstDay, head.throughNumber, frame.accounts),
      (entries) => write(() => entries.flatMap(month.take)),
    )
    yield* write(month.end)
    yield* endMonth(book.bookId, head.period, printState(state))
  },
  (effect, book, { head }) =>
    Effect.catchAllDefect(effect, (defect) =>
      defect instanceof Unvaluable
        ? valuationError(
            "Disagrees",
            `${head.period} of book ${book.code} cannot be valued: ${defect.message}. Nothing was written.`,
          )
        : Effect.die(defect),
    ),
)

/** A closed month keeps a valuation that has all of it and goes on from the month before, whatever rates came since. */
const covers = (found: MonthHead, now: MonthHead): boolean =>
  found.over && found.throughNumber === now.throughNumber && found.previous === now.previous

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
  missing: Array<MissingRate>,
) {
  const database = yield* Database
  // One valuation of a book at a time; postings and closes go on.
  yield* database.query(
    "Valuation.lock",
    (sql) => sql`select pg_advisory_xact_lock(hashtextextended('tieout valuation', ${book.bookId}))`,
  )
  const months = yield* bookMonths(book.bookId)
  if (months.first === null || months.last === null) return
  const [, latest] = [months.last, months.current].sort()
  const [through = months.last] = [wanted ?? months.last, latest].sort()
  yield* keepAccounts(book.bookId, options.baseCurrency, options.chart, book.code)
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
      (found.fingerprint === inputs.head.fingerprint || (closed && covers(found, inputs.head)))
    if (stands) {
      state = undefined
      previous = found.fingerprint
    } else {
      if (state === undefined) {
        const text = before === null ? undefined : yield* storedState(book.bookId, before)
        state = text === undefined ? emptyState() : yield* readState(text)
      }
      yield* valueMonth(book, inputs, state, missing)
      previous = inputs.head.fingerprint
    }
    before = period
  }
})

/**
 * Brings the base-currency journal of the books up to a month (`YYYY-MM`; null: the last that has entries), or changes
 * nothing at all: then the error lists every rate that is missing, of all books.
 */
export const value = Effect.fn("Valuation.value")(function* (
  books: ReadonlyArray<Book>,
  through: string | null,
  options: ValuationOptions,
) {
  const database = yield* Database
  const { baseCurrency, settings } = options
  if (scaleOf(baseCurrency) !== baseScale) {
    return yield* valuationError(
      "Usage",
      `accounting.baseCurrency is ${baseCurrency}: the base-currency journal has two decimals, and so must its currency.`,
    )
  }
  const missing: Array<MissingRate> = []
  yield* database.transaction(
    Effect.gen(function* () {
      for (const book of books) yield* valueBook(book, through, options, missing)
      if (missing.length > 0) return yield* missingRates(missing, settings.rates)
    }),
  )
})
