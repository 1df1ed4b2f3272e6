/** Rates that a valuation needed and did not find, reported all at once. */
import { type ValuationError, valuationError } from "../ValuationError.ts"

/** `date`: a day, or a month where rates come from its conversions. */
export interface MissingRate {
  readonly date: string
  readonly from: string
  readonly to: string
}

/** Up to so many are named one by one; if there are more, each pair with its first and last date. */
const shownRates = 12

const byPair = (missing: ReadonlyArray<MissingRate>): ReadonlyArray<string> => {
  const dates = new Map<string, Set<string>>()
  for (const { date, from, to } of missing) {
    const pair = `${from}/${to}`
    dates.set(pair, (dates.get(pair) ?? new Set()).add(date))
  }
  return [...dates].sort().map(([pair, pairDates]) => {
    const sorted = [...pairDates].sort()
    return sorted.length === 1
      ? `${pair}: ${sorted[0]}`
      : `${pair}: ${sorted.length} dates from ${sorted[0]} to ${sorted.at(-1)}`
  })
}

export const missingRates = (
  missing: ReadonlyArray<MissingRate>,
  source: "file" | "conversions",
  unwritten = "Nothing was written.",
  asOf: string | null = null,
): ValuationError => {
  const lines = [...new Set(missing.map(({ date, from, to }) => `${date} ${from}/${to}`))].sort()
  const advice =
    asOf !== null && source === "file"
      ? "They had not been imported by then: choose a later time."
      : source === "file"
        ? "Put them into a CSV with the columns date,from,to,rate,source, or take the ECB's eurofxref-hist.csv as it is, and run: tieout rates import FILE\nOr let an older rate hold for more days (accounting.valuation.maxRateAgeDays), or value by the months' own conversions (accounting.valuation.rates: conversions)."
        : "No conversion of those months says what the currency is worth: set accounting.valuation.rates to file, and import rates."
  const asOfText = asOf === null ? "" : ` as of ${asOf}`
  return valuationError(
    "MissingRates",
    [
      `${lines.length === 1 ? "A rate is" : `${lines.length} rates are`} missing for the base-currency journal${asOfText}. ${unwritten}`,
      ...(lines.length > shownRates ? byPair(missing) : lines).map((line) => `  ${line}`),
      advice,
    ].join("\n"),
  )
}
