/** What stands in an exported CSV file. */
import { readFileSync } from "node:fs"
import { parse } from "csv-parse/sync"

/** Header and rows. */
export const rowsOf = (file: string): ReadonlyArray<ReadonlyArray<string>> =>
  parse(readFileSync(file), { relax_column_count: false })

/** An exact decimal in 10⁻⁸. */
export const exact = (text: string): bigint => {
  const [, sign = "", whole = "", fraction = ""] = /^(-?)(\d+)(?:\.(\d{1,8}))?$/.exec(text) ?? []
  if (whole === "") throw new Error(`${JSON.stringify(text)} is no amount`)
  const value = BigInt(whole + fraction.padEnd(8, "0"))
  return sign === "-" ? -value : value
}
