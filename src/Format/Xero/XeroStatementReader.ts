/**
 * Reads Xero's statement lines, by the positions of the documented columns: a row per movement of the file's account, money in
 * positive.
 */
import { dateOf, journalOf, must, row, signed } from "../Reading/Booked.ts"
import type { Reader } from "../Reading/Reader.ts"

export const xeroStatementReader: Reader = {
  holds: "movements",
  perEntry: true,
  rows: (context) => (cells) => {
    const cell = row(cells, 6)
    must(cell(5) === "", "there is a cheque number")
    return [
      {
        journal: journalOf(cell(4), "detail"),
        date: dateOf(cell(0), context.layout.date),
        account: context.account,
        currency: context.currency,
        amount: signed(cell(1), context.layout.decimalMark),
      },
    ]
  },
}
