/** Reads QuickBooks Online's journal entries, by the positions of the documented columns. */
import { dateOf, debitOrCredit, journalOf, must, row } from "../Reading/Booked.ts"
import type { Reader } from "../Reading/Reader.ts"

export const qboReader: Reader = {
  holds: "lines",
  rows: (context) => (cells) => {
    const cell = row(cells, 10)
    must(cell(7) === context.currency, `the currency is ${JSON.stringify(cell(7))}`)
    return [
      {
        journal: journalOf(cell(0), context.mode),
        date: dateOf(cell(1), context.layout.date),
        account: cell(2),
        currency: context.currency,
        amount: debitOrCredit(cell(3), cell(4), context.layout.decimalMark),
      },
    ]
  },
}
