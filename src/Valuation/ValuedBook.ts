/** One book valued month by month, each from the state of the month before. */
import { Effect, Stream } from "effect"
import type { Book } from "../Book.ts"
import type { DatabaseError } from "../Database/DatabaseError.ts"
import { Database } from "../Database.ts"
import { otherMethod } from "../Reconcile/OtherMethod.ts"
import type { Valuation as ValuationSettings } from "../Settings/Accounting.ts"
import type { Chart } from "../Settings/Chart.ts"
import type { BaseEntry } from "./Base.ts"
import { accountsOf, keepAccounts } from "./BaseAccount.ts"
import type { Journal } from "./BaseJournal.ts"
import { earlierLegs, pricesIn } from "./Cost/ConversionHistory.ts"
import type { MonthEntries } from "./Cost/EarlierLines.ts"
import type { Rules } from "./Cost/Flow.ts"
import { earlierLines } from "./Cost/MovementHistory.ts"
import { type BookSettings, bookSettings, keepSettings } from "./KeptSettings.ts"
import { type BookMonths, bookMonths } from "./Months/BookMonths.ts"
import { covers, inputsOf, lookupOf, type MonthInputs, nextMonth } from "./Months/MonthInputs.ts"
import { valuedMonth } from "./Months/ValuedMonth.ts"
import { nativeAccounts, nativeEntries } from "./Natives.ts"
import type { MissingRate } from "./Rates/MissingRates.ts"
import type { Rate } from "./Rates/Rate.ts"
import { emptyState, printState, readState, type State } from "./State.ts"
import {
  beginMonth,
  endMonth,
  type KeptMonth,
  type MonthHead,
  monthHeads,
  storedState,
  writeEntries,
} from "./Store.ts"
import { Unvaluable } from "./Unvaluable.ts"
import { valuationError } from "./ValuationError.ts"

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

/** Entries of a month are written once there are so many. */
const writtenTogether = 500

const noRate: Rate = { numerator: 0n, denominator: 1n, text: "", date: "", source: "" }

/** Values a month, and writes it into the journal, where there is one, unless rates are missing: then it goes on, to find them all, and nothing is kept. */
const valueMonth = Effect.fn("Valuation.valueMonth")(
  function* (
    book: Book,
    inputs: MonthInputs,
    state: State,
    missing: Array<MissingRate>,
    journal: Journal | null,
  ) {
    const { asOf, frame, head } = inputs
    const lookup = yield* lookupOf(book, inputs)
    const { firstDay } = frame
    const entries: MonthEntries = { bookId: book.bookId, firstDay, through: head.throughNumber, asOf }
    // In a month without entries nothing is traded, and nothing comes back.
    const empty = head.throughNumber === 0
    const rules: Rules = {
      prices: empty ? new Map() : yield* pricesIn(entries, head.baseCurrency),
      earlier: empty ? [] : yield* earlierLegs(entries, journal),
      movements: empty ? [] : yield* earlierLines(entries, journal),
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
    let made: ReadonlyArray<BaseEntry> = []
    const write = Effect.suspend(() => {
      const entries = made
      made = []
      return journal !== null && missing.length === 0
        ? writeEntries(book.bookId, head.period, entries, journal)
        : Effect.void
    })
    if (journal !== null) yield* beginMonth(book.bookId, head, journal)
    made = month.begin()
    if (!empty) {
      yield* Stream.runForEach(
        nativeEntries(book.bookId, firstDay, head.throughNumber, frame.accounts, asOf),
        (chunk) =>
          Effect.suspend(() => {
            made = [...made, ...chunk.map(month.take)]
            return made.length < writtenTogether ? Effect.void : write
          }),
      )
    }
    made = [...made, ...month.end()]
    yield* write
    if (journal !== null) yield* endMonth(book.bookId, head.period, printState(state), journal)
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

/**
 * The cost of what a closed month leaves is that of its method: the next month goes on from it. Another method would mix the
 * two, or change what is closed.
 */
const checkMethod = (book: Book, { method, period }: MonthHead, closed: string | null) =>
  closed === null || closed === method
    ? Effect.void
    : valuationError("Closed", otherMethod({ book: book.code, closed, method, period }))

/** Whether a month is in the kept journal as it has to be. Fails where a closed one is kept otherwise: in base currency or method. */
export const standsAs = Effect.fn("Valuation.standsAs")(function* (
  book: Book,
  found: KeptMonth | undefined,
  inputs: MonthInputs,
  months: BookMonths,
) {
  // What was valued later may know rates that came later: a closed month takes them where one lacked.
  if (found === undefined || !found.byThen) return false
  const { baseCurrency, fingerprint, period } = inputs.head
  const kept = months.keptThrough !== null && period <= months.keptThrough
  if (kept) yield* checkClosed(book, found, baseCurrency)
  if (found.fingerprint === fingerprint) return true
  if (!kept || !(yield* covers(found, inputs))) return false
  yield* checkMethod(book, inputs.head, found.method)
  return true
})

/** The method of the last closed month that is valued; null where there is none. */
export const keptMethod = Effect.fn("Valuation.keptMethod")(function* (
  bookId: number,
  { keptThrough }: BookMonths,
) {
  const heads = yield* monthHeads(bookId, null)
  const closed = heads.filter(({ period }) => keptThrough !== null && period <= keptThrough)
  return closed.at(-1)?.method === "fifo" ? "fifo" : closed.length > 0 ? "average" : null
})

/** What becomes of the months, one after the other. */
interface Writing {
  /** Where those go that are not kept as they have to be; null: they are only gone through. */
  readonly journal: Journal | null
  readonly stands: (head: KeptMonth) => Effect.Effect<void, DatabaseError, Database>
}

/** A book through a month, as far as months have entries or have begun. Gives the rates that are missing. */
export const throughMonth = Effect.fn("Valuation.throughMonth")(function* (
  book: Book,
  wanted: string | null,
  settings: BookSettings,
  months: BookMonths,
  { journal, stands }: Writing,
) {
  const missing: Array<MissingRate> = []
  if (months.first === null || months.last === null) return missing
  const [, latest] = [months.last, months.current].sort()
  const [through = months.last] = [wanted ?? months.last, latest].sort()
  const accounts = yield* nativeAccounts(book.bookId, settings.monetaryRoles)
  const known = new Map((yield* monthHeads(book.bookId, months.asOf)).map((head) => [head.period, head]))
  let previous = ""
  let before: string | null = null
  let state: State | undefined
  for (const period of monthsFrom(months.first, through)) {
    const found = known.get(period)
    const inputs = yield* inputsOf(period, previous, months, accounts, settings)
    if (found !== undefined && (yield* standsAs(book, found, inputs, months))) {
      yield* stands(found)
      state = undefined
      previous = found.fingerprint
    } else {
      if (state === undefined) {
        // The month before stands, so the kept journal has its state.
        const text = before === null ? undefined : yield* storedState(book.bookId, before)
        state = text === undefined ? emptyState() : yield* readState(text)
      }
      yield* checkMethod(book, inputs.head, inputs.closedMethod)
      yield* valueMonth(book, inputs, state, missing, journal)
      previous = inputs.head.fingerprint
    }
    before = period
  }
  return missing
})

/** Where what stands is left where it is. */
export const nothing = { stands: () => Effect.void }

/** Brings the kept journal up to a month. Part of the caller's transaction. */
export const valueBook = Effect.fn("Valuation.valueBook")(function* (
  book: Book,
  wanted: string | null,
  options: ValuationOptions,
  writing: boolean,
) {
  const database = yield* Database
  // One valuation of a book at a time; postings, numbers and closes go on.
  yield* database.execute(
    "Valuation.lock",
    (sql) => sql`select pg_advisory_xact_lock(hashtextextended('tieout valuation', ${book.bookId}))`,
  )
  const months = yield* bookMonths(book.bookId, null)
  const settings = bookSettings(book, options.baseCurrency, options.settings)
  if (writing && months.first !== null) {
    yield* keepAccounts(book.bookId, accountsOf(book.code, options.baseCurrency, options.chart))
    yield* keepSettings(book.bookId, settings)
  }
  return yield* throughMonth(book, wanted, settings, months, { ...nothing, journal: writing ? "kept" : null })
})
