/**
 * Reads the European Central Bank's history of reference rates as it is published (`eurofxref-hist.csv`): a row per day, a column per
 * currency, units of the currency for one euro, `N/A` where there was none.
 */

import { Either } from "effect"
import { isKnown } from "../../Common/Currency.ts"
import { type Mistake, readRecords } from "../../Common/Files/CsvFile.ts"
import { counted } from "../../Common/Text.ts"
import { isDate } from "../../Common/Time.ts"
import { isRate } from "./RatesCsv.ts"
import { pivot, type RateRow } from "./RateTable.ts"

const source = "ECB"

/** Whether a file begins as the bank's does. */
export const isEcbHistory = (bytes: Uint8Array): boolean =>
  /^(?:\uFEFF)?"?Date"?\s*[,;]\s*"?[A-Z]{3}\b/.test(Buffer.from(bytes.subarray(0, 64)).toString("utf8"))

interface Column {
  readonly at: number
  readonly code: string
}

/** Skips currencies that no longer exist, since nothing is valued in them. */
const columnsOf = (header: ReadonlyArray<string>): ReadonlyArray<Column> | string => {
  const [, ...codes] = header
  const strange = codes.find((code) => code !== "" && !/^[A-Z]{3}$/.test(code))
  if (strange !== undefined) return `has the column ${JSON.stringify(strange)}, which is no currency`
  return codes.flatMap((code, at) => (isKnown(code) ? [{ at: at + 1, code }] : []))
}

const cellMistake = (code: string, found: string): string =>
  `${code}: found ${JSON.stringify(found)}, expected a positive number with a decimal point, or N/A`

/** The rates, the bank's newest day first. */
export const readEcbHistory = (
  bytes: Uint8Array,
): Either.Either<ReadonlyArray<RateRow>, ReadonlyArray<Mistake>> => {
  const read = readRecords(bytes)
  if (Either.isLeft(read)) return Either.left([read.left])
  const [header, ...records] = read.right
  const columns = columnsOf(header?.cells ?? [])
  if (typeof columns === "string") return Either.left([{ line: 1, text: columns }])
  const mistakes: Array<Mistake> = []
  const days = new Map<string, number>()
  const rates: Array<RateRow> = []
  for (const { cells, line } of records) {
    const [date = ""] = cells
    const before = days.get(date)
    if (cells.length !== header?.cells.length) {
      mistakes.push({
        line,
        text: `has ${counted(cells.length, "cell")}, the header has ${header?.cells.length}`,
      })
    } else if (!isDate(date)) {
      mistakes.push({ line, text: `Date: found ${JSON.stringify(date)}, expected a day as YYYY-MM-DD` })
    } else if (before !== undefined) mistakes.push({ line, text: `${date} stands on line ${before} already` })
    else {
      days.set(date, line)
      for (const { at, code } of columns) {
        const rate = cells[at] ?? ""
        if (rate === "N/A" || rate === "") continue
        if (isRate(rate)) rates.push({ date, from: pivot, to: code, rate, source })
        else mistakes.push({ line, text: cellMistake(code, rate) })
      }
    }
  }
  if (rates.length + mistakes.length === 0) mistakes.push({ line: 1, text: "there are no rates in the file" })
  return mistakes.length > 0 ? Either.left(mistakes) : Either.right(rates)
}
