/** Reads Business Central's general journal lines, by the places of the documented columns. */
import { dateOf, journalOf, must, row, signed } from "../Reading/Booked.ts"
import type { Reader } from "../Reading/Reader.ts"

/** Columns of a batch from before the files had template, batch and line number. */
const withoutKey = 8

export const businessCentralReader: Reader = {
  holds: "lines",
  rows: (context) => {
    let last = 0
    return (cells) => {
      const before = cells.length === withoutKey ? 0 : 3
      const all = row(cells, withoutKey + before)
      const of = (place: number): string => all(before + place)
      if (before > 0) {
        const line = /^[1-9]\d{0,9}$/.test(all(2)) ? Number(all(2)) : 0
        must(line > last, `the line number ${JSON.stringify(all(2))} does not follow ${last}`)
        last = line
        must(all(0) !== "" && all(1) !== "", "the journal's template or batch is not named")
      }
      must(of(2) === "G/L Account", `the account type is ${JSON.stringify(of(2))}`)
      must(of(5) === "" || of(5) === context.currency, `the currency is ${JSON.stringify(of(5))}`)
      must(of(4).length <= 100 && of(7).length <= 35, "a text is too long")
      return [
        {
          journal: journalOf(of(1), context.mode),
          date: dateOf(of(0), context.layout.date),
          account: of(3),
          currency: context.currency,
          amount: signed(of(6), context.layout.decimalMark),
        },
      ]
    }
  },
}
