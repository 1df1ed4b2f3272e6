/** An account mapping as CSV, for an accountant's spreadsheet: UTF-8 with a byte order mark, CRLF. */
import { Either } from "effect"
import { textCells } from "../../Common/Csv.ts"
import { type CsvRow, type Mistake, readCsvFile } from "../../Common/CsvFile.ts"
import { targetColumns } from "../../Format/Targets.ts"
import type { BookRow } from "./Row.ts"

const identityColumns = ["book", "role", "currency", "code", "name"] as const
export const mappingColumns: ReadonlyArray<string> = [...identityColumns, ...targetColumns]

/** The header and a line per account, without line ends. */
export const printed = (rows: ReadonlyArray<BookRow>): ReadonlyArray<string> => [
  mappingColumns.join(","),
  ...rows.map((row) => textCells(mappingColumns.map((column) => row[column] ?? "")).join(",")),
]

export const fileText = (rows: ReadonlyArray<BookRow>): string => `\uFEFF${printed(rows).join("\r\n")}\r\n`

export interface Cells {
  readonly line: number
  readonly cells: BookRow
}

const cellsOf = ({ cell: of, line }: CsvRow<string>): Cells => ({
  line,
  cells: {
    book: of("book"),
    role: of("role"),
    currency: of("currency"),
    code: of("code"),
    name: of("name"),
    ...Object.fromEntries(targetColumns.map((column) => [column, of(column)])),
  },
})

export interface ReadMapping {
  readonly rows: ReadonlyArray<Cells>
  /** Columns of systems that the file says nothing of: it is from before they were there, or they were deleted. */
  readonly absent: ReadonlyArray<string>
}

/** The rows of a file with their lines, columns in any order. Rows of another length than the header are mistakes. */
export const readMapping = (bytes: Uint8Array): Either.Either<ReadMapping, ReadonlyArray<Mistake>> =>
  Either.flatMap(readCsvFile(bytes, mappingColumns, targetColumns), ({ absent, mistakes, rows }) =>
    mistakes.length > 0 ? Either.left(mistakes) : Either.right({ absent, rows: rows.map(cellsOf) }),
  )
