/** Reads the layout of the FEC by the positions of its 18 columns. */
import { dateOf, exact, journalOf, must, row } from "../Reading/Booked.ts"
import type { Reader } from "../Reading/Reader.ts"

export const fecReader: Reader = {
  holds: "lines",
  perEntry: true,
  rows: ({ layout }) => {
    let last = ""
    return (cells) => {
      const cell = row(cells, 18)
      must(/^[A-Z0-9]{1,7}$/.test(cell(0)) && cell(1) !== "", "there is no journal")
      must(/^\d{3}[0-9A-Z]*$/.test(cell(4)) && cell(5) !== "", `${JSON.stringify(cell(4))} is no account`)
      must(cell(8) !== "" && cell(10) !== "", "there is no document or text")
      must(dateOf(cell(9), layout.date) === dateOf(cell(3), layout.date), "the document has another date")
      const valid = dateOf(cell(15), layout.date)
      must(valid !== "", "it was never valid")
      must(
        [6, 7, 13, 14, 16, 17].every((at) => cell(at) === ""),
        "a column that Tieout leaves empty is filled",
      )
      const [debit, credit] = [exact(cell(11), layout.decimalMark), exact(cell(12), layout.decimalMark)]
      must(
        debit >= 0n && credit >= 0n && (debit === 0n) !== (credit === 0n),
        "debit and credit do not exclude each other",
      )
      const date = dateOf(cell(3), layout.date)
      must(date >= last, `${cell(2)} is not in the order of days`)
      last = date
      return [
        {
          journal: journalOf(cell(2), "detail"),
          date,
          account: cell(4),
          currency: "EUR",
          amount: debit - credit,
        },
      ]
    }
  },
}
