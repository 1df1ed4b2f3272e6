/** Reads Business Central's general journal lines, by the positions of the documented columns. */
import { dateOf, journalOf, must, row, signed } from "../Reading/Booked.ts"
import type { Reader } from "../Reading/Reader.ts"

export const businessCentralReader: Reader = {
  holds: "lines",
  rows: (context) => (cells) => {
    const cell = row(cells, 8)
    must(cell(2) === "G/L Account", `the account type is ${JSON.stringify(cell(2))}`)
    must(cell(1) === cell(7), "the two document numbers differ")
    must(cell(5) === "" || cell(5) === context.currency, `the currency is ${JSON.stringify(cell(5))}`)
    return [
      {
        journal: journalOf(cell(1), context.mode),
        date: dateOf(cell(0), context.layout.date),
        account: cell(3),
        currency: context.currency,
        amount: signed(cell(6), context.layout.decimalMark),
      },
    ]
  },
}
