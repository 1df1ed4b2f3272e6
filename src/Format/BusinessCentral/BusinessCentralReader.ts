/** Reads Business Central's general journal lines, by the places of the documented columns. */
import { dateOf, journalOf, must, row, signed } from "../Reading/Booked.ts"
import type { Reader } from "../Reading/Reader.ts"

export const businessCentralReader: Reader = {
  holds: "lines",
  rows: (context) => {
    let last = 0
    return (cells) => {
      const of = row(cells, 11)
      const line = /^[1-9]\d{0,9}$/.test(of(2)) ? Number(of(2)) : 0
      must(line > last, `the line number ${JSON.stringify(of(2))} does not follow ${last}`)
      last = line
      must(of(0) !== "" && of(1) !== "", "the journal's template or batch is not named")
      must(of(5) === "G/L Account", `the account type is ${JSON.stringify(of(5))}`)
      must(of(8) === "" || of(8) === context.currency, `the currency is ${JSON.stringify(of(8))}`)
      must(of(7).length <= 100 && of(10).length <= 35, "a text is too long")
      return [
        {
          journal: journalOf(of(4), context.mode),
          date: dateOf(of(3), context.layout.date),
          account: of(6),
          currency: context.currency,
          amount: signed(of(9), context.layout.decimalMark),
        },
      ]
    }
  },
}
