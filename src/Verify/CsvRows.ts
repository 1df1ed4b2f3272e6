/**
 * Reads one of our CSV files row by row with flat memory. By hand, because it decides how long `tieout verify` takes: a general
 * reader makes a list of texts per row, while most cells only need to be compared with the row above.
 */
import { isUtf8 } from "node:buffer"
import type { Problems } from "../Common/Problems.ts"
import { byteText, decoded, wholeLines } from "./ByteText.ts"

const quote = 0x22
const comma = 0x2c
const lineFeed = 0x0a

/** The most characters of a row. */
const longest = 10_000_000

/** The positions of one row's cells in the text; valid until the next row is read. */
export class CsvRow {
  text = ""
  private readonly begins: Int32Array
  private readonly ends: Int32Array

  constructor(columns: number) {
    this.begins = new Int32Array(columns)
    this.ends = new Int32Array(columns)
  }

  place(column: number, begin: number, end: number): void {
    this.begins[column] = begin
    this.ends[column] = end
  }

  /** A cell's content. */
  cell(column: number): string {
    const raw = decoded(this.raw(column, column))
    return raw.charCodeAt(0) === quote ? raw.slice(1, -1).replaceAll('""', '"') : raw
  }

  /** Adjacent cells as raw text, a character per byte. */
  raw(from: number, to: number): string {
    return this.text.slice(this.begins[from], this.ends[to])
  }

  isEmpty(column: number): boolean {
    return this.begins[column] === this.ends[column]
  }
}

/** How reading one row ended. */
type Outcome = "row" | "unfinished" | { readonly mistake: string }

/** Finds the rows in a text that begins with a row, strictly by RFC 4180. */
class Rows {
  /** Where the next row begins. */
  at = 0
  /** Line feeds inside the cells of the last row. */
  lineFeeds = 0
  private nextQuote: number

  private readonly text: string
  private readonly row: CsvRow
  private readonly columns: number

  constructor(text: string, row: CsvRow, columns: number) {
    this.text = text
    this.row = row
    this.columns = columns
    row.text = text
    this.nextQuote = this.quoteFrom(0)
  }

  private quoteFrom(at: number): number {
    const found = this.text.indexOf('"', at)
    return found < 0 ? Number.POSITIVE_INFINITY : found
  }

  /** The position after a quoted cell; -1 where the text ends inside it. */
  private quotedEnd(begin: number): number {
    for (let at = begin + 1; ; at += 2) {
      at = this.text.indexOf('"', at)
      if (at < 0) return -1
      if (this.text.charCodeAt(at + 1) !== quote) return at + 1
    }
  }

  private countLineFeeds(begin: number, end: number): void {
    for (let at = this.text.indexOf("\n", begin); at >= 0 && at < end; at = this.text.indexOf("\n", at + 1)) {
      this.lineFeeds += 1
    }
  }

  next(): Outcome {
    const { columns, row, text } = this
    const last = columns - 1
    let at = this.at
    let lineEnd = text.indexOf("\n", at)
    this.lineFeeds = 0
    for (let column = 0; column <= last; column++) {
      let end: number
      if (text.charCodeAt(at) === quote) {
        end = this.quotedEnd(at)
        if (end < 0) return "unfinished"
        this.countLineFeeds(at, end)
        this.nextQuote = this.quoteFrom(end)
        if (end > lineEnd) lineEnd = text.indexOf("\n", end)
        const behind = text.charCodeAt(end)
        if (Number.isNaN(behind)) return "unfinished"
        if (behind !== comma && behind !== lineFeed) return { mistake: "something follows a quoted cell" }
      } else {
        const next = text.indexOf(",", at)
        end = next < 0 || next > lineEnd ? lineEnd : next
        if (end < 0) return "unfinished"
        if (this.nextQuote < end) return { mistake: "a quote stands within a cell that is not quoted" }
      }
      row.place(column, at, end)
      if ((end === lineEnd) !== (column === last)) {
        return {
          mistake:
            column === last ? `has more than ${columns} cells` : `has ${column + 1} cells, not ${columns}`,
        }
      }
      at = end + 1
    }
    this.at = at
    return "row"
  }
}

/**
 * Calls `visit` for each row with the line on which it begins. The header and the number of columns must be exactly the given
 * ones; what cannot be read as RFC 4180 in UTF-8 ends the reading with a problem. Returns the rows read.
 */
export const readCsv = async (
  chunks: AsyncIterable<Buffer>,
  file: string,
  columns: ReadonlyArray<string>,
  problems: Problems,
  visit: (row: CsvRow, line: number) => void,
): Promise<number> => {
  const row = new CsvRow(columns.length)
  const header = columns.join()
  let rest = ""
  let rows = -1
  let line = 1
  for await (const bytes of wholeLines(chunks)) {
    const text = rest + byteText(bytes)
    const mistake = ((): string | undefined => {
      if (!isUtf8(bytes)) return "is not UTF-8"
      const found = new Rows(text, row, columns.length)
      while (found.at < text.length) {
        const outcome = found.next()
        if (outcome === "unfinished") break
        if (outcome !== "row") return outcome.mistake
        rows += 1
        if (rows > 0) visit(row, line)
        else if (row.raw(0, columns.length - 1) !== header) return `the header is not ${header}`
        line += 1 + found.lineFeeds
      }
      rest = text.slice(found.at)
      return rest.length > longest ? "has a row that does not end" : undefined
    })()
    if (mistake !== undefined) {
      problems.add(file, line, mistake)
      return Math.max(0, rows)
    }
  }
  if (rest !== "") problems.add(file, line, "the last row does not end")
  else if (rows < 0) problems.add(file, 1, "has no header")
  return Math.max(0, rows)
}
