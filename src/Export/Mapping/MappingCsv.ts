/** An account mapping for an accountant's spreadsheet: CSV in UTF-8 with a byte order mark and CRLF, or a workbook. */
import { Either } from "effect"
import { textCells } from "../../Common/Csv.ts"
import {
  type CsvRead,
  type CsvRow,
  type Mistake,
  readCsvFile,
  readSheet,
} from "../../Common/Files/CsvFile.ts"
import { isWorkbook, NoWorkbook, readWorkbook, writeWorkbook } from "../../Common/Workbook/Workbook.ts"
import { targetColumns } from "../../Format/Targets.ts"
import type { BookRow } from "./MappingRow.ts"

const identityColumns = ["book", "role", "currency", "code", "name"] as const
export const mappingColumns: ReadonlyArray<string> = [...identityColumns, ...targetColumns]

/** The header and a line per account, without line ends. */
export const printed = (rows: ReadonlyArray<BookRow>): ReadonlyArray<string> => [
  mappingColumns.join(","),
  ...rows.map((row) => textCells(mappingColumns.map((column) => row[column] ?? "")).join(",")),
]

export const fileText = (rows: ReadonlyArray<BookRow>): string => `\uFEFF${printed(rows).join("\r\n")}\r\n`

/** All cells are texts: a code keeps its leading zeros. */
export const workbookOf = (rows: ReadonlyArray<BookRow>): Promise<Uint8Array> =>
  writeWorkbook([
    {
      name: "Accounts",
      header: mappingColumns,
      rows: rows.map((row) => mappingColumns.map((column) => row[column] ?? "")),
    },
  ])

export interface Cells {
  readonly line: number
  readonly cells: BookRow
}

const cellsOf = ({ cell, line }: CsvRow<string>): Cells => ({
  line,
  cells: {
    book: cell("book"),
    role: cell("role"),
    currency: cell("currency"),
    code: cell("code"),
    name: cell("name"),
    ...Object.fromEntries(targetColumns.map((column) => [column, cell(column)])),
  },
})

export interface ReadMapping {
  readonly rows: ReadonlyArray<Cells>
  /** Columns of systems that the file lacks: it is older than they are, or they were deleted from it. */
  readonly absent: ReadonlyArray<string>
}

type Read = Either.Either<CsvRead<string>, ReadonlyArray<Mistake>>

const readBook = async (bytes: Uint8Array): Promise<Read> => {
  try {
    return readSheet(await readWorkbook(bytes), mappingColumns, targetColumns)
  } catch (cause) {
    if (!(cause instanceof NoWorkbook)) throw cause
    return Either.left([{ line: cause.row, text: cause.message }])
  }
}

/** The rows of a file with their lines, columns in any order. Rows of another length than the header are mistakes. */
export const readMapping = async (
  bytes: Uint8Array,
): Promise<Either.Either<ReadMapping, ReadonlyArray<Mistake>>> =>
  Either.flatMap(
    isWorkbook(bytes) ? await readBook(bytes) : readCsvFile(bytes, mappingColumns, targetColumns),
    ({ absent, mistakes, rows }) =>
      mistakes.length > 0 ? Either.left(mistakes) : Either.right({ absent, rows: rows.map(cellsOf) }),
  )
