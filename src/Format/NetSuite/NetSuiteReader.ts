/** Reads NetSuite's journal entries, by the places of the documented columns. */
import { dateOf, journalOf, must, oneOf, row } from "../Reading/Booked.ts"
import type { Reader } from "../Reading/Reader.ts"

export const netsuiteReader: Reader = {
  holds: "lines",
  rows: (context) => (cells) => {
    const of = row(cells, 10)
    must(of(3) === context.currency, `the currency is ${JSON.stringify(of(3))}`)
    return [
      {
        journal: journalOf(of(0), context.mode),
        date: dateOf(of(1), context.layout.date),
        account: of(6),
        currency: context.currency,
        amount: oneOf(of(7), of(8), context.layout.decimalMark),
      },
    ]
  },
}
