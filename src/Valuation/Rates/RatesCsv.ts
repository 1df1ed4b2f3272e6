/** Parses a file of exchange rates; reports every mistake with its line. */
import { Either } from "effect"
import { isFormula, textCells } from "../../Common/Csv.ts"
import { isKnown } from "../../Common/Currency.ts"
import { type CsvRow, type Mistake, readCsvFile } from "../../Common/Files/CsvFile.ts"
import * as Money from "../../Common/Money.ts"
import { isDate } from "../../Common/Time.ts"
import type { RateRow } from "./RateTable.ts"

const rateColumns = ["date", "from", "to", "rate", "source"] as const
type Column = (typeof rateColumns)[number]

export const isRate = (text: string): boolean => {
  const parsed = Money.parse(text)
  return Either.isRight(parsed) && Money.isPositive(parsed.right)
}

/** What each cell must hold; no cell may be empty. */
const expected: Readonly<Record<Column, readonly [holds: (text: string) => boolean, what: string]>> = {
  date: [isDate, "a day as YYYY-MM-DD"],
  from: [isKnown, "a currency such as USD"],
  to: [isKnown, "a currency such as EUR"],
  rate: [isRate, "a positive number with a decimal point, such as 0.9123"],
  source: [(text) => text.length <= 100 && !isFormula(text), "at most 100 characters and no formula"],
}

const cellMistakes = ({ cell, line }: CsvRow<Column>): ReadonlyArray<Mistake> =>
  rateColumns.flatMap((column) => {
    const [holds, what] = expected[column]
    const found = cell(column)
    if (found === "") return [{ line, text: `${column}: is empty, expected ${what}` }]
    return holds(found) ? [] : [{ line, text: `${column}: found ${JSON.stringify(found)}, expected ${what}` }]
  })

const sameRate = (left: string, right: string): boolean =>
  Money.equals(Money.fromTrusted(left), Money.fromTrusted(right))

/** Whether a rate and the inverse pair's rate are more than 1 % apart: their product is not near 1. */
const contradicts = (rate: string, reverse: string): boolean => {
  const [left, right] = [Money.fromTrusted(rate), Money.fromTrusted(reverse)]
  const one = 10n ** BigInt(left.scale + right.scale)
  const over = left.value * right.value - one
  return (over < 0n ? -over : over) * 100n > one
}

/** The rows in the file's order, none below a header alone; a repeated rate appears once. */
export const readRates = (
  bytes: Uint8Array,
): Either.Either<ReadonlyArray<RateRow>, ReadonlyArray<Mistake>> => {
  const read = readCsvFile(bytes, rateColumns)
  if (Either.isLeft(read)) return Either.left(read.left)
  const { rows } = read.right
  const mistakes: Array<Mistake> = [...read.right.mistakes]
  const seen = new Map<string, { readonly line: number; readonly row: RateRow }>()
  for (const each of rows) {
    const { cell, line } = each
    const own = cellMistakes(each)
    mistakes.push(...own)
    if (own.length > 0) continue
    const row: RateRow = {
      date: cell("date"),
      from: cell("from"),
      to: cell("to"),
      rate: cell("rate"),
      source: cell("source"),
    }
    if (row.from === row.to) mistakes.push({ line, text: `from and to are both ${row.from}` })
    const key = `${row.date} ${row.from} ${row.to}`
    const before = seen.get(key)
    if (before === undefined) {
      seen.set(key, { line, row })
      const reverse = row.from === row.to ? undefined : seen.get(`${row.date} ${row.to} ${row.from}`)
      if (reverse !== undefined && contradicts(row.rate, reverse.row.rate)) {
        const other = `${row.to} ${row.from} is ${reverse.row.rate} on line ${reverse.line}`
        mistakes.push({
          line,
          text: `${key} is ${row.rate} here and ${other}: one turned round, they are more than 1 % apart`,
        })
      }
    } else if (!sameRate(before.row.rate, row.rate)) {
      const text = `${key} is ${row.rate} here and ${before.row.rate} on line ${before.line}`
      mistakes.push({ line, text })
    }
  }
  return mistakes.length > 0
    ? Either.left(mistakes.sort((a, b) => a.line - b.line))
    : Either.right([...seen.values()].map(({ row }) => row))
}

/** The header and a line per rate, without line ends. */
export const printedRates = (rows: ReadonlyArray<RateRow>): ReadonlyArray<string> => [
  rateColumns.join(","),
  ...rows.map(({ date, from, rate, source, to }) => [date, from, to, rate, ...textCells([source])].join(",")),
]
