/** CSV by RFC 4180, through csv-stringify. A leading quote keeps a spreadsheet from running a text as a formula. */
import { stringify } from "csv-stringify/sync"

/** Separates cells whose text may hold line feeds: Postgres text never holds a NUL. */
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

/** Each text as a CSV cell: quoted where RFC 4180 asks for it, never a formula. Not for amounts. */
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

/** Caches the cells of repeated texts such as kinds. Not for free text. */
export const cellCache = (): ((text: string | null) => string) => {
  const known = new Map<string, string>()
  return (text) => {
    if (text === null || text === "") return ""
    const cell = known.get(text) ?? textCell(text)
    known.set(text, cell)
    return cell
  }
}

/** A text as it reads back from its cell: the formula guard is part of the content. */
export const guarded = (text: string): string =>
  /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/.test(text) ? `'${text}` : text
