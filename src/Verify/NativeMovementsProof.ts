/** Re-reads `native_movements.csv`: every row is valid, and their number is the manifest's. */

import type { Problems } from "../Common/Problems.ts"
import type { FileRecord, Manifest } from "../Export/Batch/Manifest.ts"
import { exact } from "../Format/Reading/Booked.ts"
import { type CsvRow, readCsv } from "./CsvRows.ts"

/** By the contract, independently of the writer. */
const nativeColumns = [
  "journal_number",
  "line",
  "account_code",
  "account_name",
  "currency",
  "native_amount",
  "basis",
  "rate",
  "rate_date",
  "rate_source",
  "base_currency",
  "base_amount",
] as const

const at = (column: (typeof nativeColumns)[number]): number => nativeColumns.indexOf(column)
const decimal = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/
const bases: ReadonlySet<string> = new Set(["face", "rate", "price", "cost", "carrying", "proportion"])

/** A line of the books: debit positive, in 10⁻¹⁸ of its currency. `journal`: without the book's code. */
export interface NativeRow {
  readonly journal: string
  readonly code: string
  readonly name: string
  readonly currency: string
  readonly amount: bigint
}

const nativeOf = (cell: (column: (typeof nativeColumns)[number]) => string): NativeRow => ({
  journal: /\d{4}-\d{2}-\d{6,}$/.exec(cell("journal_number"))?.[0] ?? "",
  code: cell("account_code").replace(/^'/, ""),
  name: cell("account_name").replace(/^'/, ""),
  currency: cell("currency"),
  amount: exact(
    cell("native_amount")
      .replace(/(\.\d*?)0+$/, "$1")
      .replace(/\.$/, ""),
    ".",
  ),
})

const factor = String.raw`(?:0|[1-9]\d*)(?:\.\d+)?(?:/(?:0|[1-9]\d*)(?:\.\d+)?)?`
const rateForm = new RegExp(`^${factor}(?:\\*${factor})*$`)

/** A decimal as an integer, and its count of decimals. */
const integerOf = (text: string): readonly [value: bigint, decimals: number] => {
  const [whole = "", fraction = ""] = text.split(".")
  return [BigInt(whole + fraction), fraction.length]
}

/** Whether the base amount is the native one at the rate (`1.1`, `1/1.1`, `990/900`, or several with `*`), to half a cent. */
const isWorth = (native: string, rate: string, base: string): boolean => {
  let [value, decimals] = integerOf(native)
  let over = 1n
  for (const part of rate.split("*")) {
    const [numerator = "1", denominator = "1"] = part.split("/")
    const [by, more] = integerOf(numerator)
    const [under, less] = integerOf(denominator)
    value *= by * 10n ** BigInt(less)
    over *= under
    decimals += more
  }
  // value / over / 10^decimals against base, whose unit is the cent.
  const difference = value * 100n - integerOf(base)[0] * over * 10n ** BigInt(decimals)
  return 2n * (difference < 0n ? -difference : difference) <= over * 10n ** BigInt(decimals)
}

/** Why a row is invalid by itself; undefined: it is valid. */
const mistakeOf = (row: CsvRow, manifest: Manifest): string | undefined => {
  const cell = (column: (typeof nativeColumns)[number]): string => row.cell(at(column))
  if (!decimal.test(cell("native_amount"))) return `"${cell("native_amount")}" is not an amount`
  if (!/^-?\d+\.\d{2}$/.test(cell("base_amount"))) return `"${cell("base_amount")}" has not 2 decimals`
  if (cell("base_currency") !== manifest.base?.currency)
    return `"${cell("base_currency")}" is not the base currency`
  if (!bases.has(cell("basis"))) return `"${cell("basis")}" is not a way to value a line`
  const { basis, rate } = { basis: cell("basis"), rate: cell("basis") === "face" ? "1" : cell("rate") }
  if (basis === "rate" && rate === "") return "is valued at a rate that is not there"
  if (basis !== "rate" && basis !== "face") return undefined
  if (!rateForm.test(rate)) return `"${rate}" is not a rate`
  return isWorth(cell("native_amount"), rate, cell("base_amount"))
    ? undefined
    : `${cell("native_amount")} at ${rate} is not ${cell("base_amount")}`
}

export const checkNativeMovements = async (
  chunks: AsyncIterable<Buffer>,
  { name: file, rows: statedRows }: FileRecord,
  manifest: Manifest,
  problems: Problems,
  visit: (row: NativeRow) => void,
): Promise<void> => {
  const rows = await readCsv(chunks, file, nativeColumns, problems, (row, line) => {
    const mistake = mistakeOf(row, manifest)
    if (mistake !== undefined) problems.add(file, line, mistake)
    else visit(nativeOf((column) => row.cell(at(column))))
  })
  if (rows !== statedRows) problems.add(file, null, `has ${rows} rows, the manifest says ${statedRows}`)
}
