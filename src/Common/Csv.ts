/**
 * CSV by RFC 4180, through csv-stringify. An apostrophe keeps a spreadsheet from running a text as a formula, also one that takes
 * semicolons or tabs for separators: it sees no quotes but at a cell's beginning, and so makes cells of what is inside a text.
 */
import { stringify } from "csv-stringify/sync"
import { remembered } from "./Remembered.ts"

/** Separates cells whose text may hold line feeds: Postgres text never holds a NUL. */
const partition = "\0"

/** Text that can stand in a cell as it is: nothing in it needs quotes, and it does not begin like a formula. */
const harmless = /^(?!'\s)[^=+\-@\uFF1D\uFF0B\uFF0D\uFF20",;\s\0][^",;\t\r\n\0]*$/

/**
 * Separators of other dialects, and leading white space, which spreadsheets skip and RFC 4180 keeps. Quotes protect some of
 * them.
 */
const wantsQuotes = /[;\t]|^'?\s/

const formula = /[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/g

/** What may stand before a formula: no-break spaces and byte order marks are white space, too. */
const passedOver = /[\s"]/

const separators = ";\t\r\n"

/** Where the cell begins whose first character is at `at`; undefined when that character is within a cell. */
const cellStart = (text: string, at: number): number | undefined => {
  let start = at
  for (; start > 0; start--) {
    const before = text.charAt(start - 1)
    if (separators.includes(before)) return start
    if (!passedOver.test(before)) return undefined
  }
  return start
}

/** A text as it reads back from its cell: the formula guard is part of the content. */
export const guarded = (text: string): string => {
  let made = /^[\t\r]/.test(text) ? "'" : ""
  let taken = 0
  // Looking back ends at the formula character before, so the whole search takes linear time.
  for (const { index } of text.matchAll(formula)) {
    const start = cellStart(text, index)
    if (start === undefined) continue
    made += `${text.slice(taken, start)}'`
    taken = start
  }
  return made + text.slice(taken)
}

/** Whether a spreadsheet would run a part of the text. */
export const isFormula = (text: string): boolean => guarded(text) !== text

/** The cells of other texts: counterparties come again and again, and csv-stringify is the slowest step of a large export. */
const knownCells = new Map<string, string>()

/** With more cells than these the cache is emptied, so that memory does not grow with what is written. */
const mostKept = 4096

const stringified = (texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  stringify(
    texts.map((text) => [guarded(text)]),
    { record_delimiter: partition, quote_record_delimiter: true, quoted_match: wantsQuotes },
  ).split(partition)

/** Each text as a CSV cell: quoted where RFC 4180 asks for it, never a formula. Not for amounts. */
export const textCells = (texts: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (knownCells.size > mostKept) knownCells.clear()
  const missing = [...new Set(texts.filter((text) => !harmless.test(text) && !knownCells.has(text)))]
  if (missing.length > 0) {
    const cells = stringified(missing)
    for (const [at, text] of missing.entries()) knownCells.set(text, cells[at] ?? "")
  }
  return texts.map((text) => knownCells.get(text) ?? text)
}

export const textCell = (text: string): string => textCells([text])[0] ?? ""

/** Keeps the cells of texts that repeat, such as kinds. Not for free text. */
export const cellCache = (): ((text: string | null) => string) => {
  const cell = remembered(textCell)
  return (text) => (text === null || text === "" ? "" : cell(text))
}
