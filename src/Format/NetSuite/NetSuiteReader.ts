/** Reads NetSuite's journal entries, by the positions of the documented columns. */
import { dateOf, debitOrCredit, journalOf, must, row } from "../Reading/Booked.ts"
import type { Reader } from "../Reading/Reader.ts"

export const netsuiteReader: Reader = {
  holds: "lines",
  rows: (context) => (cells) => {
    const cell = row(cells, 10)
    must(cell(3) === context.currency, `the currency is ${JSON.stringify(cell(3))}`)
    return [
      {
        journal: journalOf(cell(0), context.mode),
        date: dateOf(cell(1), context.layout.date),
        account: cell(6),
        currency: context.currency,
        amount: debitOrCredit(cell(7), cell(8), context.layout.decimalMark),
      },
    ]
  },
}
