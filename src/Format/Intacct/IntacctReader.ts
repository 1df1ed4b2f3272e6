/**
 * Reads Sage Intacct's journal entries, by the positions of the documented columns. The number and the date are on a journal's
 * first line only.
 */
import { dateOf, debitOrCredit, journalOf, must, row } from "../Reading/Booked.ts"
import type { Reader } from "../Reading/Reader.ts"

export const intacctReader: Reader = {
  holds: "lines",
  rows: (context) => {
    let journal = ""
    let date = ""
    let line = 0
    return (cells) => {
      const cell = row(cells, 12)
      if (cell(5) === "1") {
        journal = journalOf(cell(4), context.mode)
        date = dateOf(cell(2), context.layout.date)
        line = 0
      } else {
        must(
          cell(1) + cell(2) + cell(3) + cell(4) === "",
          "header fields on a line that is not a journal's first",
        )
      }
      line += 1
      must(cell(5) === String(line), `LINE_NO is ${cell(5)}, not ${line}`)
      must(!/,/.test(cell(3) + cell(9)), "a comma in a text")
      const amount = debitOrCredit(cell(10), cell(11), context.layout.decimalMark)
      return [{ journal, date, account: cell(6), currency: context.currency, amount }]
    }
  },
}
