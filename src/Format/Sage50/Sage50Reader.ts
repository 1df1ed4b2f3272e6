/** Reads Sage 50's audit trail transactions, by the positions of the documented columns. */
import { dateOf, journalOf, must, positive, row } from "../Reading/Booked.ts"
import type { Reader } from "../Reading/Reader.ts"

export const sage50Reader: Reader = {
  holds: "lines",
  rows: (context) => (cells) => {
    const cell = row(cells, 10)
    must(cell(0) === "JD" || cell(0) === "JC", `the type is ${JSON.stringify(cell(0))}`)
    must(cell(1) === "" && cell(8) === "T9" && cell(9) === "0.00", "is not a journal line without tax")
    must(/^\d{1,3}$/.test(cell(3)), `the department is ${JSON.stringify(cell(3))}`)
    const size = positive(cell(7), context.layout.decimalMark)
    return [
      {
        journal: journalOf(cell(5), context.mode),
        date: dateOf(cell(4), context.layout.date),
        account: cell(2),
        currency: context.currency,
        amount: cell(0) === "JD" ? size : -size,
      },
    ]
  },
}
