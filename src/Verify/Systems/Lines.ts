/** The formats with a row per journal line, read by their columns' places as each system documents them. */
import type { Cell } from "../Lines.ts"
import { dateOf, type FileContext, journalOf, must, oneOf, positive, type Reader, signed } from "./Booked.ts"

const width = (cells: ReadonlyArray<Cell>, count: number): ((place: number) => string) => {
  must(cells.length === count, `has ${cells.length} cells, not ${count}`)
  return (place) => cells[place]?.text ?? ""
}

const marked = ({ layout }: FileContext): string => layout.decimalMark

export const xero: Reader = (context) => (cells) => {
  const of = width(cells, 10)
  const [number = ""] = of(0).split(" ")
  return [
    {
      journal: journalOf(number, context.mode),
      date: dateOf(of(1), context.layout.date),
      account: of(3),
      currency: context.currency,
      amount: signed(of(5), marked(context)),
    },
  ]
}

export const qbo: Reader = (context) => (cells) => {
  const of = width(cells, 10)
  must(of(7) === context.currency, `the currency is ${JSON.stringify(of(7))}`)
  return [
    {
      journal: journalOf(of(0), context.mode),
      date: dateOf(of(1), context.layout.date),
      account: of(2),
      currency: context.currency,
      amount: oneOf(of(3), of(4), marked(context)),
    },
  ]
}

export const netsuite: Reader = (context) => (cells) => {
  const of = width(cells, 10)
  must(of(3) === context.currency, `the currency is ${JSON.stringify(of(3))}`)
  return [
    {
      journal: journalOf(of(0), context.mode),
      date: dateOf(of(1), context.layout.date),
      account: of(6),
      currency: context.currency,
      amount: oneOf(of(7), of(8), marked(context)),
    },
  ]
}

/** The number and the date stand on a journal's first line only. */
export const intacct: Reader = (context) => {
  let journal = ""
  let date = ""
  let line = 0
  return (cells) => {
    const of = width(cells, 12)
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
    const amount = oneOf(of(10), of(11), marked(context))
    return [{ journal, date, account: of(6), currency: context.currency, amount }]
  }
}

export const sage50: Reader = (context) => (cells) => {
  const of = width(cells, 10)
  must(of(0) === "JD" || of(0) === "JC", `the type is ${JSON.stringify(of(0))}`)
  must(of(1) === "" && of(8) === "T9" && of(9) === "0.00", "is not a journal line without tax")
  must(/^\d{1,3}$/.test(of(3)), `the department is ${JSON.stringify(of(3))}`)
  const size = positive(of(7), marked(context))
  return [
    {
      journal: journalOf(of(5), context.mode),
      date: dateOf(of(4), context.layout.date),
      account: of(2),
      currency: context.currency,
      amount: of(0) === "JD" ? size : -size,
    },
  ]
}

export const businessCentral: Reader = (context) => (cells) => {
  const of = width(cells, 8)
  must(of(2) === "G/L Account", `the account type is ${JSON.stringify(of(2))}`)
  must(of(1) === of(7), "the two document numbers differ")
  must(of(5) === "" || of(5) === context.currency, `the currency is ${JSON.stringify(of(5))}`)
  return [
    {
      journal: journalOf(of(1), context.mode),
      date: dateOf(of(0), context.layout.date),
      account: of(3),
      currency: context.currency,
      amount: signed(of(6), marked(context)),
    },
  ]
}

export const glDetail: Reader = (context) => (cells) => {
  const of = width(cells, 16)
  const date = dateOf(of(6), context.layout.date)
  must(of(7) === date.slice(0, 4), `the fiscal year is ${JSON.stringify(of(7))}`)
  must(of(8) === String(Number(date.slice(5, 7))), `the period is ${JSON.stringify(of(8))}`)
  must(of(11) === "D" || of(11) === "C", `the indicator is ${JSON.stringify(of(11))}`)
  const size = positive(of(10), marked(context))
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
}

/** One row per movement of the account that the file is of: money in is positive. */
export const xeroStatement: Reader = (context) => (cells) => {
  const of = width(cells, 6)
  must(of(5) === "", "there is a cheque number")
  return [
    {
      journal: journalOf(of(4), "detail"),
      date: dateOf(of(0), context.layout.date),
      account: context.account,
      currency: context.currency,
      amount: signed(of(1), marked(context)),
    },
  ]
}
