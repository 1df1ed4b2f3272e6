/** Reads Xero's manual journals, by the places of the documented columns. */
import { dateOf, journalOf, row, signed } from "../Reading/Booked.ts"
import type { Reader } from "../Reading/Reader.ts"

export const xeroReader: Reader = {
  holds: "lines",
  rows: (context) => (cells) => {
    const of = row(cells, 10)
    const [number = ""] = of(0).split(" ")
    return [
      {
        journal: journalOf(number, context.mode),
        date: dateOf(of(1), context.layout.date),
        account: of(3),
        currency: context.currency,
        amount: signed(of(5), context.layout.decimalMark),
      },
    ]
  },
}
