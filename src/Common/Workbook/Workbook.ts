/**
 * XLSX workbooks. An amount is a number only where a spreadsheet keeps all of its digits, else it is a text; a text is never a
 * formula. The library is loaded with the first workbook.
 */
import type { Cell, CellValue, WriteSheet } from "hucre/xlsx"
import { guarded } from "../Csv.ts"
import {
  largestUnpacked,
  largestWorkbook,
  mostCells,
  mostColumns,
  mostSheetRows,
} from "../Files/RegularFile/ImportBounds.ts"
import { unpacksToMore } from "./Unzipped.ts"

/** A spreadsheet computes with binary fractions, which carry as many digits of any decimal, and no more. */
const exactDigits = 15

/** The most characters that a spreadsheet has in a cell. */
const mostCharacters = 32_767

/** A plain decimal, or a text. */
export type WorkbookCell = { readonly figure: string } | string | null

export interface WorkbookSheet {
  /** At most 31 characters, none of `\ / ? * [ ] :`. */
  readonly name: string
  readonly header: ReadonlyArray<string>
  /** No more than 1,048,575. */
  readonly rows: ReadonlyArray<ReadonlyArray<WorkbookCell>>
}

/** Whether a spreadsheet keeps all digits of a plain decimal. */
export const isExactNumber = (decimal: string): boolean =>
  decimal.replaceAll(/[-.]/g, "").replace(/^0+/, "").replace(/0+$/, "").length <= exactDigits

/** `#,##0.00` for two decimals. */
const formatOf = (decimal: string): string => {
  const decimals = decimal.split(".")[1]?.length ?? 0
  return decimals === 0 ? "#,##0" : `#,##0.${"0".repeat(decimals)}`
}

/**
 * A text as XML can hold it: without carriage returns, and without the two characters that XML has no way to write. With one of
 * them a spreadsheet opens none of the texts. What looks like the escape of another character (`_x0041_`) is one to it.
 */
const written = (text: string): string =>
  text
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(/[\ufffe\uffff]/g, "\ufffd")
    .slice(0, mostCharacters)
    .replaceAll(/_(?=x[\dA-Fa-f]{4}_)/g, "_x005F_")

const valueOf = (cell: WorkbookCell): CellValue => {
  if (cell === null) return null
  if (typeof cell === "string") return written(guarded(cell))
  return isExactNumber(cell.figure) ? Number(cell.figure) : cell.figure
}

const textOf = (cell: WorkbookCell): string =>
  cell === null ? "" : typeof cell === "string" ? cell : cell.figure

/** Characters; a longer text wraps, or runs over. */
const widths = { least: 8, most: 60 }

/** Rows that a column is measured by. */
const measured = 200

const widthOf = (column: number, { header, rows }: WorkbookSheet): number => {
  const texts = [header[column] ?? "", ...rows.slice(0, measured).map((row) => textOf(row[column] ?? null))]
  const longest = Math.max(...texts.map((text) => text.length))
  return Math.min(widths.most, Math.max(widths.least, Math.ceil(longest * 1.15) + 2))
}

const sheetOf = (sheet: WorkbookSheet): WriteSheet => {
  const { header, name, rows } = sheet
  const cells = new Map<string, Partial<Cell>>()
  for (const [at, value] of header.entries()) {
    const ofFigures = typeof (rows[0]?.[at] ?? "") !== "string"
    const style = {
      font: { bold: true },
      ...(ofFigures ? { alignment: { horizontal: "right" as const } } : {}),
    }
    cells.set(`0,${at}`, { value, type: "string", style })
  }
  for (const [row, content] of rows.entries()) {
    for (const [at, cell] of content.entries()) {
      if (cell === null || typeof cell === "string") continue
      const value = valueOf(cell)
      const style = { numFmt: formatOf(cell.figure), alignment: { horizontal: "right" as const } }
      cells.set(
        `${row + 1},${at}`,
        typeof value === "number"
          ? { value, type: "number", style }
          : { value, type: "string", style: { alignment: style.alignment } },
      )
    }
  }
  return {
    name,
    columns: header.map((_, at) => ({ width: widthOf(at, sheet) })),
    rows: [[...header], ...rows.map((row) => row.map(valueOf))],
    cells,
    freezePane: { rows: 1 },
    // One page wide, with the header on each.
    pageSetup: {
      orientation: "landscape",
      fitToPage: true,
      fitToWidth: 1,
      fitToHeight: 0,
      printTitlesRow: "$1:$1",
    },
  }
}

/** The file. All of it is in memory: bound the rows. */
export const writeWorkbook = async (sheets: ReadonlyArray<WorkbookSheet>): Promise<Uint8Array> => {
  const { writeXlsx } = await import("hucre/xlsx")
  return writeXlsx({ sheets: sheets.map(sheetOf) })
}

/** The first row is 1. */
export interface SheetRow {
  readonly row: number
  readonly cells: ReadonlyArray<string>
}

/** What is wrong with a file as a workbook, and in which row. */
export class NoWorkbook extends Error {
  override readonly name = "NoWorkbook"
  readonly row: number
  constructor(message: string, row = 1) {
    super(message)
    this.row = row
  }
}

const readCell = (value: CellValue | undefined, row: number, column: number): string => {
  if (value === null || value === undefined) return ""
  if (typeof value === "string") return value
  if (typeof value === "number" && Number.isFinite(value)) return String(value)
  const what = value instanceof Date ? "a date" : "no text"
  throw new NoWorkbook(`column ${column} is ${what}: format the column as text`, row)
}

/** Whether bytes begin as a workbook does: it is a ZIP archive. */
export const isWorkbook = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 0x03 && bytes[3] === 0x04

/** The first sheet as texts. Fails with `NoWorkbook`. */
export const readWorkbook = async (bytes: Uint8Array): Promise<ReadonlyArray<SheetRow>> => {
  if (bytes.length > largestWorkbook)
    throw new NoWorkbook(`the workbook has more than ${largestWorkbook >> 20} MiB`)
  const rows: Array<SheetRow> = []
  try {
    if (await unpacksToMore(bytes, largestUnpacked)) {
      throw new NoWorkbook(`the workbook unpacks to more than ${largestUnpacked >> 20} MiB`)
    }
    const { streamXlsxRows } = await import("hucre/xlsx")
    // A row has a value for each column up to its last: thirty bytes at the right edge become sixteen thousand.
    let cells = 0
    for await (const { index, values } of streamXlsxRows(bytes, { maxRows: mostSheetRows + 1 })) {
      const row = index + 1
      const filled = values.findLastIndex((value) => value !== null && value !== undefined) + 1
      cells += values.length
      if (filled > mostColumns) throw new NoWorkbook(`has more than ${mostColumns} cells`, row)
      if (cells > mostCells)
        throw new NoWorkbook(`is beyond the ${mostCells} cells that are read of a file`, row)
      rows.push({ row, cells: values.slice(0, filled).map((value, at) => readCell(value, row, at + 1)) })
    }
  } catch (cause) {
    if (cause instanceof NoWorkbook) throw cause
    throw new NoWorkbook(
      `the workbook cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
    )
  }
  if (rows.length > mostSheetRows)
    throw new NoWorkbook(`the sheet has more than ${mostSheetRows} rows`, rows.length)
  return rows
}
