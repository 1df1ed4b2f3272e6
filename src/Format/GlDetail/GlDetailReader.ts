/** Reads the AICPA's general ledger detail, by the places of the documented columns. */
import { dateOf, journalOf, must, positive, row } from "../Reading/Booked.ts"
import type { Reader } from "../Reading/Reader.ts"

export const glDetailReader: Reader = {
  holds: "lines",
  perEntry: true,
  rows: (context) => (cells) => {
    const of = row(cells, 16)
    const date = dateOf(of(6), context.layout.date)
    must(of(7) === date.slice(0, 4), `the fiscal year is ${JSON.stringify(of(7))}`)
    must(of(8) === String(Number(date.slice(5, 7))), `the period is ${JSON.stringify(of(8))}`)
    must(of(11) === "D" || of(11) === "C", `the indicator is ${JSON.stringify(of(11))}`)
    const size = positive(of(10), context.layout.decimalMark)
    dateOf(of(14), context.layout.date)
    return [
      {
        journal: journalOf(of(0), "detail"),
        date,
        account: of(9),
        currency: of(12),
        amount: of(11) === "D" ? size : -size,
      },
    ]
  },
}
