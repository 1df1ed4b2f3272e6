/** The inputs of a month's valuation, and the rates that apply to it. */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import type { Book } from "../../Book.ts"
import { shiftDate } from "../../Common/Time.ts"
import type { NativeAccount } from "../Base.ts"
import type { MonthHead } from "../KeptMonths.ts"
import type { BookSettings } from "../KeptSettings.ts"
import { exchangedIn } from "../Rates/ExchangedIn.ts"
import { laterRates, ratesBetween } from "../Rates/RateStore.ts"
import { firstOf, fromConversions, fromRows, type RateLookup, type RateRow } from "../Rates/RateTable.ts"
import type { BookMonths } from "./BookMonths.ts"
import type { MonthFrame } from "./ValuedMonth.ts"

export interface MonthInputs {
  readonly head: MonthHead
  readonly frame: MonthFrame
  /** Imported rates; for a closed month, those imported when it was closed. */
  readonly rows: ReadonlyArray<RateRow>
  /** For a closed month, the newest import at its close; null: it is open. */
  readonly knownThrough: number | null
  /** For a closed month, the method that its close recorded; null: it is open, or the book had not been valued then. */
  readonly closedMethod: string | null
  /** The newest import as of that time; null: as of now, or before the first import. */
  readonly newest: number | null
  /** From `resolveAsOf`; null: now. */
  readonly asOf: string | null
  /** Foreign currencies that the book has used. */
  readonly currencies: ReadonlyArray<string>
}

/** Part of every fingerprint, by where the rates come from: raise it when the rules change, and open months are valued again. */
const rulesVersion = { file: 4, conversions: 5 }

export const nextMonth = (period: string): string => shiftDate(`${period}-01`, 31).slice(0, 7)

/** The first and the last day of a month. */
export const daysOf = (period: string): readonly [firstDay: string, lastDay: string] => [
  `${period}-01`,
  shiftDate(`${nextMonth(period)}-01`, -1),
]

const digest = (parts: unknown): string => createHash("sha256").update(JSON.stringify(parts)).digest("hex")

/** `accounts`: all of the book. Only those used by this month count: later ones change nothing in it. */
export const inputsOf = Effect.fn("Valuation.inputsOf")(function* (
  period: string,
  previous: string,
  months: BookMonths,
  accounts: ReadonlyArray<NativeAccount>,
  { baseCurrency, maxRateAgeDays, method, monetaryRoles, rates }: BookSettings,
) {
  const used = accounts.filter(({ since }) => since !== null && since <= period)
  const [firstDay, lastDay] = daysOf(period)
  const frame: MonthFrame = {
    firstDay,
    lastDay,
    over: period < months.current,
    accounts: used,
  }
  const through = months.numbers.get(period) ?? 0
  const currencies = [...new Set(used.map(({ currency }) => currency))].filter((one) => one !== baseCurrency)
  const closed = months.closedThrough !== null && period <= months.closedThrough
  const close = closed ? months.closes.find((each) => each.period >= period) : undefined
  const knownThrough = close?.ratesVersion ?? null
  const { asOf } = months
  const newest = asOf === null ? null : (months.ratesVersion ?? 0)
  const days = { from: shiftDate(frame.firstDay, -maxRateAgeDays), to: frame.lastDay }
  const rows =
    rates === "file" ? yield* ratesBetween(baseCurrency, currencies, days, knownThrough ?? newest) : []
  const held = used.filter((account) => account.held).map(({ accountId }) => accountId)
  const monetary = used.filter((account) => account.monetary).map(({ accountId }) => accountId)
  const fingerprint = digest([
    rulesVersion[rates],
    previous,
    period,
    frame.over,
    through,
    baseCurrency,
    method,
    rates,
    maxRateAgeDays,
    held,
    monetary,
    rows,
    // With only some of the numbers, it must differ from every fingerprint of the kept journal.
    ...(months.partial.has(period) ? [asOf] : []),
  ])
  const head: MonthHead = {
    period,
    baseCurrency,
    method,
    rates,
    maxRateAgeDays,
    monetaryRoles: monetaryRoles.join(" "),
    ratesVersion: months.ratesVersion,
    fingerprint,
    previous,
    throughNumber: through,
    over: frame.over,
  }
  const closedMethod = close?.method ?? null
  return { head, frame, rows, knownThrough, closedMethod, newest, asOf, currencies } satisfies MonthInputs
})

/**
 * A closed month uses the rates imported when it was closed; where one was missing, the first that was imported afterwards.
 * So its valuation does not depend on when it is made.
 */
export const lookupOf = Effect.fn("Valuation.lookupOf")(function* (book: Book, inputs: MonthInputs) {
  const { asOf, currencies, frame, head, knownThrough, newest, rows } = inputs
  const { baseCurrency, maxRateAgeDays } = head
  if (head.rates === "conversions") {
    const exchanged = yield* exchangedIn(book.bookId, frame.firstDay, head.throughNumber, baseCurrency, asOf)
    return fromConversions(exchanged, frame.lastDay)
  }
  const known = fromRows(rows, baseCurrency, maxRateAgeDays)
  if (knownThrough === null) return known
  const days = { from: shiftDate(frame.firstDay, -maxRateAgeDays), to: frame.lastDay }
  const later = yield* laterRates(baseCurrency, currencies, days, knownThrough, newest)
  const versions = [...new Set(later.map(({ version }) => version))]
  const tables = versions.map(
    (newest): RateLookup =>
      fromRows([...rows, ...later.filter(({ version }) => version <= newest)], baseCurrency, maxRateAgeDays),
  )
  return firstOf([known, ...tables])
})

/** Whether a closed month was valued with the rates that apply to it, before any of them was corrected. */
const knewRates = Effect.fn("Valuation.knewRates")(function* (found: MonthHead, inputs: MonthInputs) {
  const { currencies, frame, knownThrough } = inputs
  const had = found.ratesVersion ?? 0
  if (found.rates !== "file" || knownThrough === null || had >= knownThrough) return true
  const days = { from: shiftDate(frame.firstDay, -found.maxRateAgeDays), to: frame.lastDay }
  const [then, now] = yield* Effect.forEach([had, knownThrough], (through) =>
    ratesBetween(found.baseCurrency, currencies, days, through),
  )
  return JSON.stringify(then) === JSON.stringify(now)
})

/**
 * Whether a closed month keeps its valuation, whatever settings and rates came since: it is complete, continues the month
 * before, and used the rates that count.
 */
export const covers = Effect.fn("Valuation.covers")(function* (found: MonthHead, inputs: MonthInputs) {
  const { head } = inputs
  if (!found.over || found.throughNumber !== head.throughNumber || found.previous !== head.previous) {
    return false
  }
  return yield* knewRates(found, inputs)
})
