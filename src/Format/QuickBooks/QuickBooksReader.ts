/** Reads QuickBooks Online's journal entries, by the places of the documented columns. */
import { dateOf, journalOf, must, oneOf, row } from "../Reading/Booked.ts"
import type { Reader } from "../Reading/Reader.ts"

export const qboReader: Reader = {
  holds: "lines",
  rows: (context) => (cells) => {
    const of = row(cells, 10)
    must(of(7) === context.currency, `the currency is ${JSON.stringify(of(7))}`)
    return [
      {
        journal: journalOf(of(0), context.mode),
        date: dateOf(of(1), context.layout.date),
        account: of(2),
        currency: context.currency,
        amount: oneOf(of(3), of(4), context.layout.decimalMark),
      },
    ]
  },
}
