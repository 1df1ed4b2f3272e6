/** An account mapping as CSV, for an accountant's spreadsheet: UTF-8 with a byte order mark, CRLF. */
import { Either } from "effect"
import { textCells } from "../../Common/Csv.ts"
import { type CsvRow, type Mistake, readCsvFile } from "../../Common/CsvFile.ts"
import { targetColumns } from "../../Format/Targets.ts"
import type { MappingRow } from "./Row.ts"

export const identityColumns = ["book", "role", "currency", "code", "name"] as const
export const mappingColumns = [...identityColumns, ...targetColumns] as const

export interface BookRow extends MappingRow {
  readonly book: string
}

/** The header and a line per account, without line ends. */
export const printed = (rows: ReadonlyArray<BookRow>): ReadonlyArray<string> => [
  mappingColumns.join(","),
  ...rows.map((row) => textCells(mappingColumns.map((column) => row[column])).join(",")),
]

export const fileText = (rows: ReadonlyArray<BookRow>): string => `\uFEFF${printed(rows).join("\r\n")}\r\n`

export interface Cells {
  readonly line: number
  readonly cells: Readonly<Record<(typeof mappingColumns)[number], string>>
}

const cellsOf = ({ cell: of, line }: CsvRow<(typeof mappingColumns)[number]>): Cells => ({
  line,
  cells: {
    book: of("book"),
    role: of("role"),
    currency: of("currency"),
    code: of("code"),
    name: of("name"),
    xero_code: of("xero_code"),
    qbo_name: of("qbo_name"),
    netsuite_id: of("netsuite_id"),
    intacct_account: of("intacct_account"),
    sage50_code: of("sage50_code"),
    bc_account: of("bc_account"),
    datev_konto: of("datev_konto"),
    dimension: of("dimension"),
  },
})

/** The rows of a file with their lines, columns in any order. Rows of another length than the header are mistakes. */
export const readMapping = (bytes: Uint8Array): Either.Either<ReadonlyArray<Cells>, ReadonlyArray<Mistake>> =>
  Either.flatMap(readCsvFile(bytes, mappingColumns), ({ mistakes, rows }) =>
    mistakes.length > 0 ? Either.left(mistakes) : Either.right(rows.map(cellsOf)),
  )
