/** Reads the AICPA's general ledger detail, by the positions of the documented columns. */
import { dateOf, journalOf, must, positive, row } from "../Reading/Booked.ts"
import type { Reader } from "../Reading/Reader.ts"

export const glDetailReader: Reader = {
  holds: "lines",
  perEntry: true,
  rows: (context) => (cells) => {
    const cell = row(cells, 16)
    const date = dateOf(cell(6), context.layout.date)
    must(cell(7) === date.slice(0, 4), `the fiscal year is ${JSON.stringify(cell(7))}`)
    must(cell(8) === String(Number(date.slice(5, 7))), `the period is ${JSON.stringify(cell(8))}`)
    must(cell(11) === "D" || cell(11) === "C", `the indicator is ${JSON.stringify(cell(11))}`)
    const size = positive(cell(10), context.layout.decimalMark)
    dateOf(cell(14), context.layout.date)
    return [
      {
        journal: journalOf(cell(0), "detail"),
        date,
        account: cell(9),
        currency: cell(12),
        amount: cell(11) === "D" ? size : -size,
      },
    ]
  },
}
