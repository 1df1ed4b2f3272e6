/** One book valued month by month, each from the state of the month before. */
import { Effect } from "effect"
import type { Book } from "../Book.ts"
import type { DatabaseError } from "../Database/DatabaseError.ts"
import { Database } from "../Database.ts"
import { orReopen, otherMethod } from "../Reconcile/OtherMethod.ts"
import type { Valuation as ValuationSettings } from "../Settings/Accounting.ts"
import type { Chart } from "../Settings/Chart.ts"
import { accountsOf, keepAccounts } from "./BaseAccount.ts"
import type { Journal } from "./BaseJournal.ts"
import { type KeptMonth, type MonthHead, monthHeads, storedState } from "./KeptMonths.ts"
import { type BookSettings, bookSettings, keepSettings } from "./KeptSettings.ts"
import { type BookMonths, bookMonths } from "./Months/BookMonths.ts"
import { covers, inputsOf, type MonthInputs, nextMonth } from "./Months/MonthInputs.ts"
import { valueMonth } from "./Months/MonthValuation.ts"
import { nativeAccounts } from "./Natives.ts"
import type { MissingRate } from "./Rates/MissingRates.ts"
import { valuationError } from "./ValuationError.ts"
import { emptyState, readState, type State } from "./ValuationState.ts"

export interface ValuationOptions {
  readonly baseCurrency: string
  readonly settings: ValuationSettings
  readonly chart: Pick<Chart, "fx_realized" | "fx_unrealized" | "rounding">
}

/** All months from one to another, `YYYY-MM`. */
export const monthsFrom = (first: string, last: string): ReadonlyArray<string> => {
  const months: Array<string> = []
  for (let month = first; month <= last; month = nextMonth(month)) months.push(month)
  return months
}

const isArchived = (period: string, { archivedThrough }: BookMonths): boolean =>
  archivedThrough !== null && period <= archivedThrough

const checkClosed = (book: Book, kept: MonthHead, baseCurrency: string, months: BookMonths) =>
  kept.baseCurrency === baseCurrency
    ? Effect.void
    : valuationError(
        "Closed",
        `${kept.period} of book ${book.code} is closed and valued in ${kept.baseCurrency}: it stays so. Set accounting.baseCurrency to ${kept.baseCurrency}${orReopen({ archived: isArchived(kept.period, months), period: kept.period })}.`,
      )

/**
 * A closed month's holdings are costed by its method, and the next month continues from them: another method would mix the two,
 * or change a closed month.
 */
const checkMethod = (
  book: Book,
  { method, period }: MonthHead,
  closed: string | null,
  months: BookMonths,
) => {
  if (closed === null || closed === method) return Effect.void
  const archived = isArchived(period, months)
  return valuationError("Closed", otherMethod({ book: book.code, closed, method, period, archived }))
}

/** Whether the kept journal holds the month up to date. Fails where a closed month has another base currency or method. */
export const isUpToDate = Effect.fn("Valuation.isUpToDate")(function* (
  book: Book,
  found: KeptMonth | undefined,
  inputs: MonthInputs,
  months: BookMonths,
) {
  // A later valuation may use later rates: a closed month takes them where it lacked one.
  if (found === undefined || !found.byThen) return false
  const { baseCurrency, fingerprint, period } = inputs.head
  const kept = months.keptThrough !== null && period <= months.keptThrough
  if (kept) yield* checkClosed(book, found, baseCurrency, months)
  if (found.fingerprint === fingerprint) return true
  if (!kept || !(yield* covers(found, inputs))) return false
  yield* checkMethod(book, inputs.head, found.method, months)
  return true
})

/** The method of the last valued closed month; null: there is none. */
export const keptMethod = Effect.fn("Valuation.keptMethod")(function* (
  bookId: number,
  { keptThrough }: BookMonths,
) {
  const heads = yield* monthHeads(bookId, null)
  const closed = heads.filter(({ period }) => keptThrough !== null && period <= keptThrough)
  return closed.at(-1)?.method === "fifo" ? "fifo" : closed.length > 0 ? "average" : null
})

/** What to do with the months, one after the other. */
interface Writing {
  /** The journal for months that are not up to date; null: they are valued but not written. */
  readonly journal: Journal | null
  readonly whenUpToDate: (head: KeptMonth) => Effect.Effect<void, DatabaseError, Database>
}

/**
 * The last month with entries, or that was valued: a batch may have that one's revaluations already, and everything has them,
 * too. An as-of journal has the months that had entries.
 */
const lastOf = (last: string, known: ReadonlyMap<string, KeptMonth>, asOf: string | null): string =>
  (asOf === null ? [last, ...known.keys()].sort().at(-1) : last) ?? last

/** Values a book through a month (null: `lastOf`), as far as months have entries or have begun. Returns the missing rates. */
export const throughMonth = Effect.fn("Valuation.throughMonth")(function* (
  book: Book,
  wanted: string | null,
  settings: BookSettings,
  months: BookMonths,
  { journal, whenUpToDate }: Writing,
) {
  const missing: Array<MissingRate> = []
  if (months.first === null || months.last === null) return missing
  const [, latest] = [months.last, months.current].sort()
  const accounts = yield* nativeAccounts(book.bookId, settings.monetaryRoles)
  const known = new Map((yield* monthHeads(book.bookId, months.asOf)).map((head) => [head.period, head]))
  const [through = months.last] = [wanted ?? lastOf(months.last, known, months.asOf), latest].sort()
  let previous = ""
  let before: string | null = null
  let state: State | undefined
  for (const period of monthsFrom(months.first, through)) {
    const found = known.get(period)
    const inputs = yield* inputsOf(period, previous, months, accounts, settings)
    if (found !== undefined && (yield* isUpToDate(book, found, inputs, months))) {
      yield* whenUpToDate(found)
      state = undefined
      previous = found.fingerprint
    } else {
      if (state === undefined) {
        // The month before is up to date, so the kept journal has its state.
        const text = before === null ? undefined : yield* storedState(book.bookId, before)
        state = text === undefined ? emptyState() : yield* readState(text)
      }
      yield* checkMethod(book, inputs.head, inputs.closedMethod, months)
      if (isArchived(period, months)) {
        return yield* valuationError(
          "Archived",
          `${period} of book ${book.code} is archived, and was not valued in ${settings.baseCurrency} before: neither it nor a month after it can be valued here. Restore the archive's dump into an empty database for that.`,
        )
      }
      yield* valueMonth(book, inputs, state, missing, journal)
      previous = inputs.head.fingerprint
    }
    before = period
  }
  return missing
})

/** Leaves months that are up to date as they are. */
export const leaveUpToDate = { whenUpToDate: () => Effect.void }

/** Keeps the accounts of a book's base-currency journal, as the chart names them. */
export const keepBaseAccounts = (
  { bookId, code }: Book,
  { baseCurrency, chart }: Pick<ValuationOptions, "baseCurrency" | "chart">,
) => keepAccounts(bookId, accountsOf(code, baseCurrency, chart))

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
    yield* keepBaseAccounts(book, options)
    yield* keepSettings(book.bookId, settings)
  }
  return yield* throughMonth(book, wanted, settings, months, {
    ...leaveUpToDate,
    journal: writing ? "kept" : null,
  })
})
