/** Reads Business Central's general journal lines, by the positions of the documented columns. */
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
      const cell = (place: number): string => all(before + place)
      if (before > 0) {
        const line = /^[1-9]\d{0,9}$/.test(all(2)) ? Number(all(2)) : 0
        must(line > last, `the line number ${JSON.stringify(all(2))} does not follow ${last}`)
        last = line
        must(all(0) !== "" && all(1) !== "", "the journal's template or batch is not named")
      }
      must(cell(2) === "G/L Account", `the account type is ${JSON.stringify(cell(2))}`)
      must(cell(5) === "" || cell(5) === context.currency, `the currency is ${JSON.stringify(cell(5))}`)
      must(cell(4).length <= 100 && cell(7).length <= 35, "a text is too long")
      return [
        {
          journal: journalOf(cell(1), context.mode),
          date: dateOf(cell(0), context.layout.date),
          account: cell(3),
          currency: context.currency,
          amount: signed(cell(6), context.layout.decimalMark),
        },
      ]
    }
  },
}
