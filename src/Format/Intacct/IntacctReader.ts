/**
 * Reads Sage Intacct's journal entries, by the positions of the documented columns. The number and the date are on a journal's
 * first line only.
 */
import {
  atRate,
  type Booked,
  dateOf,
  debitOrCredit,
  type FileContext,
  journalOf,
  must,
  row,
} from "../Reading/Booked.ts"
import type { Cell } from "../Reading/LineCells.ts"
import type { Reader } from "../Reading/Reader.ts"

const rowsOf = (context: FileContext, columns: number): ((cells: ReadonlyArray<Cell>) => Booked) => {
  let journal = ""
  let date = ""
  let line = 0
  return (cells) => {
    const cell = row(cells, columns)
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
    return { journal, date, account: cell(6), currency: context.currency, amount }
  }
}

export const intacctReader: Reader = {
  holds: "lines",
  rows: (context) => {
    const read = rowsOf(context, 12)
    return (cells) => [read(cells)]
  },
}

/** With CURRENCY, EXCH_RATE_DATE, EXCH_RATE_TYPE_ID and EXCH_RATE at the end. */
export const intacctRatedReader: Reader = {
  holds: "lines",
  rows: (context) => {
    const read = rowsOf(context, 16)
    return (cells) => {
      const booked = read(cells)
      const [currency = "", date = "", type = "", rate = ""] = cells.slice(12).map(({ text }) => text)
      must(currency === context.currency, `the currency is ${JSON.stringify(currency)}`)
      must(type === "", "there is a type of rate")
      if (currency === context.baseCurrency) {
        must(date + rate === "", "the base currency has a rate")
        return [{ ...booked, base: booked.amount }]
      }
      must(dateOf(date, context.layout.date) === booked.date, `the rate is of ${date}`)
      return [{ ...booked, base: atRate(booked.amount, rate, context.layout.decimalMark) }]
    }
  },
}
