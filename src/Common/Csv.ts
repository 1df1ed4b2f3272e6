/** RFC 4180 through csv-stringify, with text that a spreadsheet would run as a formula neutralised by a leading quote. */
import { stringify } from "csv-stringify/sync"

/** Postgres text never holds a NUL, so it parts cells that are quoted for a line feed. */
const partition = "\0"

/** Text that is its own cell: nothing in it that RFC 4180 wants quoted, and nothing in front that begins a formula. */
const harmless = /^[^=+\-@\t\uFF1D\uFF0B\uFF0D\uFF20",\r\n\0][^",\r\n\0]*$/

/** The cells of other texts: counterparties come again and again, and csv-stringify is the slowest step of a large export. */
const made = new Map<string, string>()

/** Beyond as many cells all are forgotten, so that memory does not grow with what is written. */
const mostKept = 4096

const stringified = (texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  stringify(
    texts.map((text) => [text]),
    { record_delimiter: partition, quote_record_delimiter: true, escape_formulas: true },
  ).split(partition)

/** Each text as a CSV cell: quoted where RFC 4180 wants it, and never a formula. Amounts do not come here. */
export const textCells = (texts: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (made.size > mostKept) made.clear()
  const missing = [...new Set(texts.filter((text) => !harmless.test(text) && !made.has(text)))]
  if (missing.length > 0) {
    const cells = stringified(missing)
    for (const [at, text] of missing.entries()) made.set(text, cells[at] ?? "")
  }
  return texts.map((text) => made.get(text) ?? text)
}

export const textCell = (text: string): string => textCells([text])[0] ?? ""

/** The cells of texts that come again and again, such as kinds: each is made once. Not for free text. */
export const cellCache = (): ((text: string | null) => string) => {
  const known = new Map<string, string>()
  return (text) => {
    if (text === null || text === "") return ""
    const cell = known.get(text) ?? textCell(text)
    known.set(text, cell)
    return cell
  }
}

/** What a text reads as once it has been through a cell: the formula guard is part of the content. */
export const guarded = (text: string): string =>
  /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/.test(text) ? `'${text}` : text
