/**
 * Reads Sage Intacct's journal entries, by the places of the documented columns. The number and the date stand on a journal's
 * first line only.
 */
import { dateOf, journalOf, must, oneOf, row } from "../Reading/Booked.ts"
import type { Reader } from "../Reading/Reader.ts"

export const intacctReader: Reader = {
  holds: "lines",
  rows: (context) => {
    let journal = ""
    let date = ""
    let line = 0
    return (cells) => {
      const of = row(cells, 12)
      if (of(5) === "1") {
        journal = journalOf(of(4), context.mode)
        date = dateOf(of(2), context.layout.date)
        line = 0
      } else {
        must(of(1) + of(2) + of(3) + of(4) === "", "header fields on a line that is not a journal's first")
      }
      line += 1
      must(of(5) === String(line), `LINE_NO is ${of(5)}, not ${line}`)
      must(!/,/.test(of(3) + of(9)), "a comma in a text")
      const amount = oneOf(of(10), of(11), context.layout.decimalMark)
      return [{ journal, date, account: of(6), currency: context.currency, amount }]
    }
  },
}
