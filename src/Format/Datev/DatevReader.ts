/**
 * A DATEV EXTF Buchungsstapel (format 700, version 13) read by its published field rules; the first line is a header of 31
 * fields.
 */
import { type FileContext, journalOf, must, positive, scale } from "../Reading/Booked.ts"
import { type Cell, Unreadable } from "../Reading/LineCells.ts"
import type { Reader, RowReader } from "../Reading/Reader.ts"

/** The header's fields, by position, as raw text. */
const headerRules: ReadonlyArray<RegExp> = [
  /^"EXTF"$/,
  /^700$/,
  /^21$/,
  /^"Buchungsstapel"$/,
  /^13$/,
  /^20\d{15}$/,
  /^$/,
  /^"RE"$/,
  /^"\w{0,25}"$/,
  /^"\w{0,25}"$/,
  /^\d{4,7}$/,
  /^\d{1,5}$/,
  /^20\d{2}(?:0[1-9]|1[0-2])01$/,
  /^[4-8]$/,
  /^20\d{6}$/,
  /^20\d{6}$/,
  /^"[\w.\-/ ]{0,30}"$/,
  /^"(?:[A-Z]{2})?"$/,
  /^1$/,
  /^0$/,
  /^[01]$/,
  /^"[A-Z]{3}"$/,
  /^$/,
  /^""$/,
  /^$/,
  /^$/,
  /^"\d{2}"$/,
  /^$/,
  /^$/,
  /^""$/,
  /^""$/,
]

/** The fields that we fill; all others are empty. */
const fieldRules = new Map<number, RegExp>([
  [1, /^\d{1,10},\d{2}$/],
  [2, /^"[SH]"$/],
  [3, /^"[A-Z]{3}"$/],
  [7, /^\d{1,9}$/],
  [8, /^\d{1,9}$/],
  [10, /^(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])$/],
  [11, /^"[a-zA-Z0-9$%&*+\-/]{0,36}"$/],
  [12, /^"[a-zA-Z0-9$%&*+\-/]{0,12}"$/],
  [14, /^".{0,60}"$/],
  [21, /^"(?:Journal)?"$/],
  [22, /^"[a-zA-Z0-9-]{0,80}"$/],
  [37, /^"[\w .-]{0,36}"$/],
  [114, /^[01]$/],
])

const raw = ({ quoted, text }: Cell): string => (quoted ? `"${text}"` : text)

interface Header {
  readonly from: string
  readonly to: string
  /** The most digits of an account: one more than a general ledger account has. */
  readonly longest: number
  readonly currency: string
}

const headerOf = (cells: ReadonlyArray<Cell>): Header => {
  must(cells.length === headerRules.length, `has ${cells.length} header fields, not ${headerRules.length}`)
  const fields = cells.map(raw)
  headerRules.forEach((rule, at) => {
    must(rule.test(fields[at] ?? ""), `header field ${at + 1} is ${fields[at]}`)
  })
  const [year = "", length = "", from = "", to = ""] = fields.slice(12, 16)
  must(year <= from, "the fiscal year begins after the period")
  must(from <= to && from.slice(0, 6) === to.slice(0, 6), "the period is no month")
  return { from, to, longest: Number(length) + 1, currency: cells[21]?.text ?? "" }
}

/** Of a row in a foreign currency: rate, amount in the base currency, the base currency. */
const rateRules = new Map<number, RegExp>([
  [4, /^\d{1,5},\d{1,6}$/],
  [5, /^\d{1,10},\d{2}$/],
  [6, /^"[A-Z]{3}"$/],
])

const checkFields = (cells: ReadonlyArray<Cell>, foreign: boolean): void => {
  must(cells.length === 125, `has ${cells.length} fields, not 125`)
  cells.forEach((cell, at) => {
    const own = foreign ? rateRules.get(at + 1) : undefined
    const rule = own ?? fieldRules.get(at + 1) ?? /^(?:"")?$/
    must(rule.test(raw(cell)), `field ${at + 1} is ${raw(cell)}`)
  })
}

/** The stated amount in the base currency, which must be what the rate makes of the amount but for its last digits. */
const baseOf = (amount: bigint, rate: string, stated: string): bigint => {
  const base = positive(stated, ",")
  const off = (amount * 10n ** BigInt(scale)) / positive(rate, ",") - base
  const most = 10n ** BigInt(scale - 1) + base / 10_000n
  must((off < 0n ? -off : off) <= most, `${stated} is not the amount at ${rate}`)
  return base
}

const rowsOf = ({ baseCurrency, currency, mode }: FileContext, rated: boolean): RowReader => {
  let header: Header | undefined
  const foreign = rated && currency !== baseCurrency
  return (cells) => {
    if (header === undefined) {
      header = headerOf(cells)
      must(
        header.currency === (rated ? baseCurrency : currency),
        `the header's currency is ${header.currency}`,
      )
      return []
    }
    checkFields(cells, foreign)
    const cell = (place: number): string => cells[place - 1]?.text ?? ""
    must(cell(3) === currency, `the currency is ${cell(3)}`)
    const [account, contra] = [cell(7), cell(8)]
    if (account === contra) throw new Unreadable(`${account} is booked against itself`)
    must(Math.max(account.length, contra.length) <= header.longest, `${account} or ${contra} is too long`)
    const [day, month] = [cell(10).slice(0, 2), cell(10).slice(2)]
    const date = `${header.from.slice(0, 4)}-${month}-${day}`
    const compact = date.replaceAll("-", "")
    must(compact >= header.from && compact <= header.to, `${date} is not in the file's month`)
    const size = positive(cell(1), ",")
    const amount = cell(2) === "S" ? size : -size
    // Where Belegfeld 1 has something else, the number has a place of its own in Beleginfo 1.
    const journal = journalOf(cell(21) === "Journal" ? cell(22) : cell(11), mode)
    const own = { journal, date, account, currency, amount }
    const other = { journal, date, account: contra, currency, amount: -amount }
    if (!rated) return [own, other]
    must(!foreign || cell(6) === baseCurrency, `the base currency is ${cell(6)}`)
    const worth = foreign ? baseOf(size, cell(4), cell(5)) : size
    const base = cell(2) === "S" ? worth : -worth
    return [
      { ...own, base },
      { ...other, base: -base },
    ]
  }
}

export const datevReader: Reader = {
  holds: "pairs",
  preamble: 1,
  rows: (context) => rowsOf(context, false),
}

/** With Kurs, Basis-Umsatz and WKZ Basis-Umsatz; the header has the base currency. */
export const datevRatedReader: Reader = {
  holds: "pairs",
  preamble: 1,
  rows: (context) => rowsOf(context, true),
}
