/** Reads Business Central's general journal lines, by the places of the documented columns. */
import { dateOf, journalOf, must, row, signed } from "../Reading/Booked.ts"
import type { Reader } from "../Reading/Reader.ts"

export const businessCentralReader: Reader = {
  holds: "lines",
  rows: (context) => (cells) => {
    const of = row(cells, 8)
    must(of(2) === "G/L Account", `the account type is ${JSON.stringify(of(2))}`)
    must(of(1) === of(7), "the two document numbers differ")
    must(of(5) === "" || of(5) === context.currency, `the currency is ${JSON.stringify(of(5))}`)
    return [
      {
        journal: journalOf(of(1), context.mode),
        date: dateOf(of(0), context.layout.date),
        account: of(3),
        currency: context.currency,
        amount: signed(of(6), context.layout.decimalMark),
      },
    ]
  },
}
