/**
 * Reads Xero's statement lines, by the places of the documented columns. A row per movement of the account that the file is
 * of: money in is positive.
 */
import { dateOf, journalOf, must, row, signed } from "../Reading/Booked.ts"
import type { Reader } from "../Reading/Reader.ts"

export const xeroStatementReader: Reader = {
  holds: "movements",
  perEntry: true,
  rows: (context) => (cells) => {
    const of = row(cells, 6)
    must(of(5) === "", "there is a cheque number")
    return [
      {
        journal: journalOf(of(4), "detail"),
        date: dateOf(of(0), context.layout.date),
        account: context.account,
        currency: context.currency,
        amount: signed(of(1), context.layout.decimalMark),
      },
    ]
  },
}
