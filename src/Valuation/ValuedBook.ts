/** One book valued month by month, each from the state of the month before. */
import { Effect, Stream } from "effect"
import type { Book } from "../Book.ts"
import type { DatabaseError } from "../Database/DatabaseError.ts"
import { Database } from "../Database.ts"
import type { Valuation as ValuationSettings } from "../Settings/Accounting.ts"
import type { Chart } from "../Settings/Chart.ts"
import { type BookMonths, bookMonths } from "./BookMonths.ts"
import { type Rules, Unvaluable } from "./Flow.ts"
import { beginScratch, copyMonth } from "./Journal.ts"
import type { MissingRate } from "./Missing.ts"
import { covers, inputsOf, lookupOf, type MonthInputs, mayKnowLater, nextMonth } from "./MonthInputs.ts"
import { nativeAccounts, nativeEntries, paidIn } from "./Natives.ts"
import type { Rate } from "./Rate.ts"
import { emptyState, printState, readState, type State } from "./State.ts"
import {
  beginMonth,
  endMonth,
  keepAccounts,
  type MonthHead,
  monthHeads,
  storedState,
  writeEntries,
} from "./Store.ts"
import { valuationError } from "./ValuationError.ts"
import { valuedMonth } from "./ValuedMonth.ts"

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
    const { asOf, frame, head } = inputs
    const lookup = yield* lookupOf(book, inputs)
    const paid = yield* paidIn(book.bookId, frame.firstDay, head.throughNumber, head.baseCurrency, asOf)
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
          writing && missing.length === 0
            ? writeEntries(book.bookId, head.period, entries, asOf)
            : Effect.void,
      )
    if (writing) yield* beginMonth(book.bookId, head, asOf)
    yield* write(month.begin)
    yield* Stream.runForEach(
      nativeEntries(book.bookId, frame.firstDay, head.throughNumber, frame.accounts, asOf),
      (entries) => write(() => entries.flatMap(month.take)),
    )
    yield* write(month.end)
    if (writing) yield* endMonth(book.bookId, head.period, printState(state), asOf)
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

/** Whether a month is in the kept journal as it has to be. Fails where a closed one is kept in another base currency. */
export const standsAs = Effect.fn("Valuation.standsAs")(function* (
  book: Book,
  found: MonthHead | undefined,
  inputs: MonthInputs,
  months: BookMonths,
) {
  if (found === undefined) return false
  const { baseCurrency, fingerprint, period } = inputs.head
  const kept = months.keptThrough !== null && period <= months.keptThrough
  if (kept) yield* checkClosed(book, found, baseCurrency)
  if (kept && (yield* covers(found, inputs))) return true
  return found.fingerprint === fingerprint && (kept || !(yield* mayKnowLater(found, inputs)))
})

/** What becomes of the months, one after the other. */
interface Writing {
  /** The months that are not kept as they have to be are written; otherwise only gone through. */
  readonly values: boolean
  readonly stands: (period: string) => Effect.Effect<void, DatabaseError, Database>
}

/** A book through a month, as far as months have entries or have begun. Gives the rates that are missing. */
const throughMonth = Effect.fn("Valuation.throughMonth")(function* (
  book: Book,
  wanted: string | null,
  options: ValuationOptions,
  months: BookMonths,
  { stands, values }: Writing,
) {
  const missing: Array<MissingRate> = []
  if (months.first === null || months.last === null) return missing
  const [, latest] = [months.last, months.current].sort()
  const [through = months.last] = [wanted ?? months.last, latest].sort()
  const accounts = yield* nativeAccounts(book.bookId)
  const known = new Map((yield* monthHeads(book.bookId)).map((head) => [head.period, head]))
  let previous = ""
  let before: string | null = null
  let state: State | undefined
  for (const period of monthsFrom(months.first, through)) {
    const found = known.get(period)
    const inputs = yield* inputsOf(book, period, previous, months, accounts, options)
    if (found !== undefined && (yield* standsAs(book, found, inputs, months))) {
      yield* stands(period)
      state = undefined
      previous = found.fingerprint
    } else {
      if (state === undefined) {
        // The month before stands, so the kept journal has its state.
        const text = before === null ? undefined : yield* storedState(book.bookId, before)
        state = text === undefined ? emptyState() : yield* readState(text)
      }
      yield* valueMonth(book, inputs, state, missing, values)
      previous = inputs.head.fingerprint
    }
    before = period
  }
  return missing
})

/** Brings the kept journal up to a month. Part of the caller's transaction, as is `valueBookThen`. */
export const valueBook = Effect.fn("Valuation.valueBook")(function* (
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
  const months = yield* bookMonths(book.bookId, null)
  if (writing && months.first !== null) {
    yield* keepAccounts(book.bookId, options.baseCurrency, options.chart, book.code)
  }
  return yield* throughMonth(book, wanted, options, months, { values: writing, stands: () => Effect.void })
})

/**
 * The journal as it would have been made at a time (`asOf`, as `resolveAsOf` gives it): of what was recorded by then, with
 * the rates that had been imported, where a month that was closed then and was not reopened since stays as it is kept.
 * Months from `first` on (null: all) get their entries, those before only their state. The settings are today's.
 */
export const valueBookThen = Effect.fn("Valuation.valueBookThen")(function* (
  book: Book,
  first: string | null,
  wanted: string | null,
  options: ValuationOptions,
  asOf: string,
  writing: boolean,
) {
  const months = yield* bookMonths(book.bookId, asOf)
  if (writing) yield* beginScratch()
  const stands = (period: string) =>
    writing ? copyMonth(book.bookId, period, asOf, first === null || period >= first) : Effect.void
  return yield* throughMonth(book, wanted, options, months, { values: writing, stands })
})
