/** Reads Sage 50's audit trail transactions, by the places of the documented columns. */
import { dateOf, journalOf, must, positive, row } from "../Reading/Booked.ts"
import type { Reader } from "../Reading/Reader.ts"

export const sage50Reader: Reader = {
  holds: "lines",
  rows: (context) => (cells) => {
    const of = row(cells, 10)
    must(of(0) === "JD" || of(0) === "JC", `the type is ${JSON.stringify(of(0))}`)
    must(of(1) === "" && of(8) === "T9" && of(9) === "0.00", "is not a journal line without tax")
    must(/^\d{1,3}$/.test(of(3)), `the department is ${JSON.stringify(of(3))}`)
    const size = positive(of(7), context.layout.decimalMark)
    return [
      {
        journal: journalOf(of(5), context.mode),
        date: dateOf(of(4), context.layout.date),
        account: of(2),
        currency: context.currency,
        amount: of(0) === "JD" ? size : -size,
      },
    ]
  },
}
