/** The rate of a day: from a file, or from the month's own conversions. */
import { print } from "../../Common/MinorUnits.ts"
import { shiftDate } from "../../Common/Time.ts"
import { baseScale, type Rate } from "./Rate.ts"

/** A row of a rates file: one unit of `from` is worth `rate` of `to`. */
export interface RateRow {
  readonly date: string
  readonly from: string
  readonly to: string
  /** A positive plain decimal. */
  readonly rate: string
  readonly source: string
}

/** The totals of a month's conversions between a currency and the base currency. Smallest units, positive. */
export interface Exchanged {
  readonly currency: string
  readonly scale: number
  readonly foreign: bigint
  /** Cents. */
  readonly base: bigint
}

/** The rate of a currency into the base currency on a day (`YYYY-MM-DD`), if there is one. */
export type RateLookup = (currency: string, date: string) => Rate | undefined

const fraction = (text: string): readonly [numerator: bigint, denominator: bigint] => {
  const point = text.indexOf(".")
  if (point < 0) return [BigInt(text), 1n]
  return [BigInt(text.slice(0, point) + text.slice(point + 1)), 10n ** BigInt(text.length - point - 1)]
}

/** The currency through which two others are crossed: central banks publish their rates against it. */
export const pivot = "EUR"

type OfDay = (from: string, to: string, day: string) => Rate | undefined

/** The rate of one day: of the pair itself, or the inverse of the opposite pair's. */
const pairOf =
  (byKey: ReadonlyMap<string, RateRow>): OfDay =>
  (from, to, date) => {
    const direct = byKey.get(`${date} ${from} ${to}`)
    if (direct !== undefined) {
      const [numerator, denominator] = fraction(direct.rate)
      return { numerator, denominator, text: direct.rate, date, source: direct.source }
    }
    const inverse = byKey.get(`${date} ${to} ${from}`)
    if (inverse === undefined) return undefined
    const [denominator, numerator] = fraction(inverse.rate)
    return { numerator, denominator, text: `1/${inverse.rate}`, date, source: inverse.source }
  }

/** The rate of one day, crossed through the euro. */
const crossed = (rateOf: OfDay, currency: string, baseCurrency: string, day: string): Rate | undefined => {
  if (currency === pivot || baseCurrency === pivot) return undefined
  const own = rateOf(currency, pivot, day)
  const base = rateOf(pivot, baseCurrency, day)
  if (own === undefined || base === undefined) return undefined
  return {
    numerator: own.numerator * base.numerator,
    denominator: own.denominator * base.denominator,
    text: `${base.text}*${own.text}`,
    date: day,
    source: own.source === base.source ? own.source : `${own.source}, ${base.source}`,
  }
}

/**
 * The rate of the day itself, else the newest before that is at most `maxAgeDays` old. On one day the direct pair comes
 * before the inverse pair, and that before the two crossed through the euro; all are exact fractions.
 */
export const fromRows = (
  rows: ReadonlyArray<RateRow>,
  baseCurrency: string,
  maxAgeDays: number,
): RateLookup => {
  const byKey = new Map(rows.map((row) => [`${row.date} ${row.from} ${row.to}`, row]))
  const rateOf = pairOf(byKey)
  return (currency, date) => {
    for (let age = 0; age <= maxAgeDays; age++) {
      const day = shiftDate(date, -age)
      const rate = rateOf(currency, baseCurrency, day) ?? crossed(rateOf, currency, baseCurrency, day)
      if (rate !== undefined) return rate
    }
    return undefined
  }
}

/** The rate from the first look-up that has one. */
export const firstOf =
  (lookups: ReadonlyArray<RateLookup>): RateLookup =>
  (currency, date) => {
    for (const lookup of lookups) {
      const rate = lookup(currency, date)
      if (rate !== undefined) return rate
    }
    return undefined
  }

/** One rate per currency for all days of the month: the total of base currency over that of the currency in its conversions. */
export const fromConversions = (exchanged: ReadonlyArray<Exchanged>, lastDay: string): RateLookup => {
  const rates = new Map(
    exchanged
      .filter(({ base, foreign }) => base > 0n && foreign > 0n)
      .map(({ base, currency, foreign, scale }): [string, Rate] => [
        currency,
        {
          numerator: base * 10n ** BigInt(scale),
          denominator: foreign * 10n ** BigInt(baseScale),
          text: `${print(base, baseScale)}/${print(foreign, scale)}`,
          date: lastDay,
          source: `conversions of ${lastDay.slice(0, 7)}`,
        },
      ]),
  )
  return (currency) => rates.get(currency)
}
