/** Reads Xero's manual journals, by the positions of the documented columns. */
import { dateOf, journalOf, row, signed } from "../Reading/Booked.ts"
import type { Reader } from "../Reading/Reader.ts"

export const xeroReader: Reader = {
  holds: "lines",
  rows: (context) => (cells) => {
    const cell = row(cells, 10)
    const [number = ""] = cell(0).split(" ")
    return [
      {
        journal: journalOf(number, context.mode),
        date: dateOf(cell(1), context.layout.date),
        account: cell(3),
        currency: context.currency,
        amount: signed(cell(5), context.layout.decimalMark),
      },
    ]
  },
}
