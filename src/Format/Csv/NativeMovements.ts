/**
 * `native_movements.csv`, with every export in the base currency: each line of the books with its own currency and amount, its
 * value in the base currency, and the rate. UTF-8, LF, by journal number and line.
 */
import { cellCache } from "../../Common/Csv.ts"
import { print } from "../../Common/MinorUnits.ts"
import { accompanyingFiles } from "../AccompanyingFiles.ts"
import type { SingleFile } from "../Format.ts"

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

export const nativeMovements: SingleFile = {
  ...accompanyingFiles.nativeMovements,
  order: "number",
  takesAll: true,
  open: () => {
    const cell = cellCache()
    let rows = 0
    return {
      begin: () => `${nativeColumns.join(",")}\n`,
      write: (entries) => {
        let text = ""
        for (const { natives = [], number } of entries) {
          for (const {
            account,
            amount,
            basis,
            currency,
            line,
            minor,
            rate,
            rateDate,
            rateSource,
          } of natives) {
            const head = `${number},${line},${cell(account.code)},${cell(account.name)},${cell(currency)},${amount}`
            const tail = `${rate ?? ""},${rateDate ?? ""},${cell(rateSource)},${cell(account.currency)}`
            text += `${head},${basis},${tail},${print(minor, account.scale)}\n`
          }
          rows += natives.length
        }
        return text
      },
      end: () => "",
      rows: () => rows,
    }
  },
}
