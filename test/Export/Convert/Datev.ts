/** A DATEV EXTF Buchungsstapel read by its published field rules; anything that breaks one is an error. */
import { type Booked, cellsOf, exact } from "./Csv.ts"

const must = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(what)
}

/** The first line, by position. */
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

const fieldRules: ReadonlyArray<readonly [place: number, rule: RegExp]> = [
  [1, /^(?!0,00$)\d{1,10},\d{2}$/],
  [2, /^"[SH]"$/],
  [3, /^"[A-Z]{3}"$/],
  [4, /^$/],
  [5, /^$/],
  [6, /^""$/],
  [7, /^\d{1,9}$/],
  [8, /^\d{1,9}$/],
  [9, /^""$/],
  [10, /^(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])$/],
  [11, /^"[a-zA-Z0-9$%&*+\-/]{1,36}"$/],
  [12, /^""$/],
  [14, /^".{0,60}"$/],
  [37, /^"[\w .-]{0,36}"$/],
  [114, /^[01]$/],
]

/** Cells as they stand, with their quotes: the rules say which must have them. */
const rawCells = (line: string): ReadonlyArray<string> =>
  line.match(/(?<=^|;)(?:"(?:[^"]|"")*"|[^;]*)/g) ?? []

export const readDatev = (bytes: Buffer): ReadonlyArray<Booked> => {
  const text = new TextDecoder("windows-1252").decode(bytes)
  must(text.endsWith("\r\n") && !/[^\r]\n/.test(text), "lines do not end in CRLF")
  const [first = "", headings = "", ...rest] = text.split("\r\n").slice(0, -1)
  const header = rawCells(first)
  must(header.length === headerRules.length, `${header.length} header fields`)
  header.forEach((field, at) => {
    must(headerRules[at]?.test(field) ?? false, `header field ${at + 1}: ${field}`)
  })
  must(headings.split(";").length === 125, `${headings.split(";").length} headings`)
  must(new Set(headings.split(";")).size === 125, "a heading stands twice")
  const year = (header[14] ?? "").slice(0, 4)
  const [from = "", to = ""] = [header[14], header[15]]
  must((header[12] ?? "") <= from, "the fiscal year begins after the period")
  const most = Number(header[13]) + 1
  return rest.flatMap((line) => {
    const raw = rawCells(line)
    must(raw.length === 125, `${raw.length} fields: ${line}`)
    for (const [place, rule] of fieldRules) {
      must(rule.test(raw[place - 1] ?? "?"), `field ${place}: ${raw[place - 1]}`)
    }
    const [cells = []] = cellsOf(`${line}\n`, ";")
    const [amount = "", side, currency, , , , account = "", contra = "", , date = "", journal = ""] = cells
    must(`"${currency}"` === header[21], `currency ${currency}`)
    must(account !== contra && account.length <= most && contra.length <= most, `${account} ${contra}`)
    const day = `${year}${date.slice(2)}${date.slice(0, 2)}`
    must(day >= from && day <= to, `${day} is not in the file's month`)
    const minor = side === "S" ? exact(amount, ",") : -exact(amount, ",")
    const iso = `${year}-${date.slice(2)}-${date.slice(0, 2)}`
    return [
      { journal, date: iso, account, amount: minor },
      { journal, date: iso, account: contra, amount: -minor },
    ]
  })
}
