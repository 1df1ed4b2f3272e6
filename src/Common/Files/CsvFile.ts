/** Reads a CSV file from a person, strictly: UTF-8, a header of known columns, rows of one length. */

import { dirname } from "node:path"
import { Either } from "effect"
import { codeOf } from "../ErrorCode.ts"
import { counted } from "../Text.ts"
import type { SheetRow } from "../Workbook/Workbook.ts"
import { type Mistake, type Parsed, recordsOf } from "./CsvFile/Records.ts"
import { onFullDisk } from "./NewFile.ts"
import { isMissing, whyUnread } from "./RegularFile.ts"

export type { Mistake }

/** One row; `cell` returns a column's content, trimmed. */
export interface CsvRow<Column extends string> {
  readonly line: number
  readonly cell: (column: Column) => string
}

/** Why a file could not be read, from the error of the file system, and what to do. */
export const unreadable = (file: string, cause: unknown): string =>
  `${file}: ${whyUnread(cause)}. Nothing was stored: name a CSV file that you may read.`

const another = "Choose the name of a new file with --out."

/** Why a new file could not be written, and what to do. */
export const unwritable = (
  file: string,
  cause: unknown,
): { readonly reason: "Unwritable" | "Exists" | "NoFolder"; readonly message: string } => {
  if (isMissing(cause)) {
    return {
      reason: "NoFolder",
      message: `There is no folder ${dirname(file)}: make it, or name another file with --out.`,
    }
  }
  const code = codeOf(cause)
  if (code === "EEXIST") return { reason: "Exists", message: `${file} is there already. ${another}` }
  const why =
    code === "EACCES" || code === "EPERM"
      ? "may not be written by this user"
      : `cannot be written [${code ?? "unknown error"}]`
  return { reason: "Unwritable", message: `${file} ${why}. ${onFullDisk(cause) ?? another}` }
}

const headerMistakes = (
  header: ReadonlyArray<string>,
  columns: ReadonlyArray<string>,
  optional: ReadonlyArray<string>,
): ReadonlyArray<string> => [
  ...columns
    .filter((column) => !header.includes(column) && !optional.includes(column))
    .map((column) => `lacks the column ${column}`),
  ...header
    .filter((name) => !columns.includes(name))
    .map((name) => `has the column ${JSON.stringify(name)}, which Tieout does not know`),
  ...header
    .filter((name, at) => header.indexOf(name) !== at)
    .map((name) => `has the column ${JSON.stringify(name)} twice`),
]

export interface CsvRead<Column extends string> {
  readonly rows: ReadonlyArray<CsvRow<Column>>
  /** Rows whose length differs from the header's; `rows` leaves them out. */
  readonly mistakes: ReadonlyArray<Mistake>
  /** Optional columns that the file does not have. */
  readonly absent: ReadonlyArray<Column>
}

/** The records of a file as they are, the header first; for files whose columns others have named. */
export const readRecords = (
  bytes: Uint8Array,
): Either.Either<ReadonlyArray<{ readonly line: number; readonly cells: ReadonlyArray<string> }>, Mistake> =>
  Either.map(recordsOf(bytes), (found) =>
    found.map(({ line, record }) => ({ line, cells: record.map((cell) => cell.trim()) })),
  )

/** The rows below a header, with columns in any order; optional ones may be missing. Left: why they cannot be read. */
const tableOf = <Column extends string>(
  found: Parsed,
  columns: ReadonlyArray<Column>,
  optional: ReadonlyArray<Column>,
): Either.Either<CsvRead<Column>, ReadonlyArray<Mistake>> => {
  const [first, ...rest] = found
  if (first === undefined) return Either.left([{ line: 1, text: "the file is empty" }])
  const header = first.record.map((name) => name.trim())
  const wrong = headerMistakes(header, columns, optional)
  if (wrong.length > 0) return Either.left(wrong.map((text) => ({ line: first.line, text })))
  const fits = (record: ReadonlyArray<string>): boolean => record.length === header.length
  return Either.right({
    absent: optional.filter((column) => !header.includes(column)),
    rows: rest
      .filter(({ record }) => fits(record))
      .map(({ line, record }) => ({
        line,
        cell: (column) => (record[header.indexOf(column)] ?? "").trim(),
      })),
    mistakes: rest
      .filter(({ record }) => !fits(record))
      .map(({ line, record }) => ({
        line,
        text: `has ${counted(record.length, "cell")}, the header has ${header.length}`,
      })),
  })
}

/** The rows of a file. Left: why the file as a whole cannot be read. */
export const readCsvFile = <Column extends string>(
  bytes: Uint8Array,
  columns: ReadonlyArray<Column>,
  optional: ReadonlyArray<Column> = [],
): Either.Either<CsvRead<Column>, ReadonlyArray<Mistake>> => {
  const read = recordsOf(bytes)
  return Either.isLeft(read) ? Either.left([read.left]) : tableOf(read.right, columns, optional)
}

/** The rows of a workbook's sheet, which end at their last cell: cells beyond it, and whole empty rows, count as empty. */
export const readSheet = <Column extends string>(
  rows: ReadonlyArray<SheetRow>,
  columns: ReadonlyArray<Column>,
  optional: ReadonlyArray<Column> = [],
): Either.Either<CsvRead<Column>, ReadonlyArray<Mistake>> => {
  const filled = rows
    .map(({ cells, row }) => ({
      cells: cells.slice(0, cells.findLastIndex((cell) => cell.trim() !== "") + 1),
      row,
    }))
    .filter(({ cells }) => cells.length > 0)
  const width = filled[0]?.cells.length ?? 0
  const found = filled.map(({ cells, row }) => ({
    record: [...cells, ...Array.from({ length: Math.max(0, width - cells.length) }, () => "")],
    line: row,
  }))
  return tableOf(found, columns, optional)
}
