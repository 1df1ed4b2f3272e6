/** Reads a file of an accounting system's format row by row; shares no code with the writer. */
import type { FileRecord, Layout, Manifest } from "../Export/Batch/Manifest.ts"
import type { Booked, FileContext } from "../Format/Reading/Booked.ts"
import { cellsOf, textOf, Unreadable } from "../Format/Reading/LineCells.ts"
import type { Reader } from "../Format/Reading/Reader.ts"
import { linesOf } from "./FileLines.ts"

/** How a file was written, by its manifest. */
export interface TableContext extends FileContext {
  readonly layout: Layout
}

/** How a file is read; undefined for a batch of an older version, which does not say it. */
export const contextOf = (
  { account = "", currency = "", format }: FileRecord,
  { base, tables }: Manifest,
): TableContext | undefined => {
  const layout = tables?.layouts?.[format]
  return tables === undefined || layout === undefined
    ? undefined
    : { layout, currency, account, mode: tables.mode, baseCurrency: base?.currency ?? "" }
}

/** Called with what a row books, or why it cannot be read. */
export type Visit = (booked: ReadonlyArray<Booked> | string, line: number) => void

/** Calls `visit` for each row with its line (from 1). Returns the number of rows. Also reports a file that ends early. */
export const readTable = async (
  chunks: AsyncIterable<Buffer>,
  reader: Reader,
  context: TableContext,
  visit: Visit,
): Promise<number> => {
  const { columns, delimiter, encoding, header, lineEnd } = context.layout
  const rowsOf = reader.rows(context)
  const before = reader.preamble ?? 0
  const heading = header ? before + 1 : before
  let number = 0
  let rows = 0
  const read = (bytes: Buffer): ReadonlyArray<Booked> => {
    const ends = lineEnd === "CRLF" && bytes.at(-1) === 0x0d
    if (lineEnd === "CRLF" && !ends) throw new Unreadable("the line does not end in CRLF")
    const cells = cellsOf(textOf(ends ? bytes.subarray(0, -1) : bytes, encoding), delimiter)
    if (number !== heading || number <= before) {
      if (reader.isRow?.(cells) === true) rows += 1
      return rowsOf(cells)
    }
    if (cells.map(({ text }) => text).join("\n") === columns.join("\n")) return []
    throw new Unreadable(`the header is not ${columns.slice(0, 5).join(delimiter)}…`)
  }
  try {
    for await (const bytes of linesOf(chunks)) {
      number += 1
      try {
        visit(read(bytes), number)
      } catch (cause) {
        if (!(cause instanceof Unreadable)) throw cause
        visit(cause.message, number)
      }
    }
  } catch (cause) {
    if (!(cause instanceof Unreadable)) throw cause
    visit(cause.message, number + 1)
  }
  return reader.isRow === undefined ? Math.max(0, number - heading) : rows
}
