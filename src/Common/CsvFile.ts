/** Reads a CSV file from a person, strictly: UTF-8, a header of known columns, rows of one length. */
import { parse } from "csv-parse/sync"
import { Either, Schema } from "effect"
import { NotRegular } from "./RegularFile.ts"
import type { SheetRow } from "./Workbook/Workbook.ts"

/** A mistake in a file, with its line (the first is 1). */
export interface Mistake {
  readonly line: number
  readonly text: string
}

/** One row; `cell` returns a column's content, trimmed. */
export interface CsvRow<Column extends string> {
  readonly line: number
  readonly cell: (column: Column) => string
}

const unread: { readonly [code: string]: string } = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EISDIR: "is a folder",
  EACCES: "may not be read by this user",
  EPERM: "may not be read by this user",
}

/** Why a file could not be read, from the error of the file system, and what to do. */
export const unreadable = (file: string, cause: unknown): string => {
  if (cause instanceof NotRegular)
    return `${file}: ${cause.message}. Nothing was stored: name a CSV file that you may read.`
  const code =
    cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "unknown error"
  return `${file}: ${unread[code] ?? `cannot be read [${code}]`}. Nothing was stored: name a CSV file that you may read.`
}

/** Why a new file could not be written, and what to do. */
export const unwritable = (
  file: string,
  cause: unknown,
): { readonly reason: "Unwritable" | "Exists"; readonly message: string } => {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined
  return code === "EEXIST"
    ? { reason: "Exists", message: `${file} is there already. Choose the name of a new file with --out.` }
    : {
        reason: "Unwritable",
        message: `${file} cannot be written: ${String(cause)}. Choose the name of a new file with --out.`,
      }
}

const mistake = (line: number, text: string) => Either.left<Mistake>({ line, text })

const decoder = new TextDecoder("utf-8", { fatal: true })

/** The text of a UTF-8 file, or its first line that is not UTF-8. */
const decoded = (bytes: Uint8Array): Either.Either<string, Mistake> => {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    return mistake(1, "the file is in UTF-16: save it as CSV UTF-8")
  }
  try {
    const text = decoder.decode(bytes)
    return text.includes("\0") ? mistake(1, "the file is no text: save it as CSV UTF-8") : Either.right(text)
  } catch {
    return mistake(firstBadLine(bytes), "is not in UTF-8: save the file as CSV UTF-8")
  }
}

/** In UTF-8 the line feed's byte is part of no other character, so each line can be checked alone. */
const firstBadLine = (bytes: Uint8Array): number => {
  let line = 1
  let start = 0
  for (let at = 0; at <= bytes.length; at++) {
    if (at < bytes.length && bytes[at] !== 0x0a) continue
    try {
      decoder.decode(bytes.subarray(start, at))
    } catch {
      return line
    }
    line += 1
    start = at + 1
  }
  return 1
}

const Parsed = Schema.Array(
  Schema.Struct({ record: Schema.Array(Schema.String), info: Schema.Struct({ lines: Schema.Number }) }),
)
type Parsed = typeof Parsed.Type
const asParsed = Schema.decodeUnknownSync(Parsed)

const separators = [",", ";", "\t"]

/** How the cells are separated, and the line on which they begin. */
interface Layout {
  readonly delimiter: string
  readonly fromLine: number
}

/**
 * Spreadsheets in countries with a decimal comma separate cells by semicolons, and what is copied out of one by tabs. A first line
 * `sep=;` tells a spreadsheet so, and is no row.
 */
const layoutOf = (text: string): Either.Either<Layout, Mistake> => {
  const [first = ""] = text.split("\n", 1)
  const [, told] = /^(?:\uFEFF)?"?sep=([^\r"]*)"?\r?$/i.exec(first) ?? []
  if (told === undefined) {
    return Either.right({ delimiter: separators.findLast((one) => first.includes(one)) ?? ",", fromLine: 1 })
  }
  return separators.includes(told)
    ? Either.right({ delimiter: told, fromLine: 2 })
    : mistake(
        1,
        `says that cells are separated by ${JSON.stringify(told)}, expected a comma, a semicolon or a tab`,
      )
}

const records = (text: string): Either.Either<Parsed, Mistake> => {
  const layout = layoutOf(text)
  if (Either.isLeft(layout)) return Either.left(layout.left)
  try {
    const { delimiter, fromLine } = layout.right
    const options = { delimiter, relax_column_count: true, skip_empty_lines: true, from_line: fromLine }
    return Either.right(asParsed(parse(text, { ...options, bom: true, info: true })))
  } catch (cause) {
    const found: unknown = cause instanceof Error && "lines" in cause ? cause.lines : undefined
    const line = typeof found === "number" ? found : 1
    return mistake(line, `cannot be read as CSV: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
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
    .map((name) => `has the column ${JSON.stringify(name)}, which is none of ours`),
  ...header
    .filter((name, at) => header.indexOf(name) !== at)
    .map((name) => `has the column ${JSON.stringify(name)} twice`),
]

export interface CsvRead<Column extends string> {
  readonly rows: ReadonlyArray<CsvRow<Column>>
  /** Rows whose length differs from the header's; `rows` leaves them out. */
  readonly mistakes: ReadonlyArray<Mistake>
  /** Columns that the file has not, which it may lack. */
  readonly absent: ReadonlyArray<Column>
}

/** The records of a file as they are, the header first; for files whose columns others have named. */
export const readRecords = (
  bytes: Uint8Array,
): Either.Either<ReadonlyArray<{ readonly line: number; readonly cells: ReadonlyArray<string> }>, Mistake> =>
  Either.map(Either.flatMap(decoded(bytes), records), (found) =>
    found.map(({ info, record }) => ({ line: info.lines, cells: record.map((cell) => cell.trim()) })),
  )

/** The rows below a header, with columns in any order, of which the optional ones may lack. Left: why they cannot be read. */
const tableOf = <Column extends string>(
  found: Parsed,
  columns: ReadonlyArray<Column>,
  optional: ReadonlyArray<Column>,
): Either.Either<CsvRead<Column>, ReadonlyArray<Mistake>> => {
  const [first, ...rest] = found
  if (first === undefined) return Either.left([{ line: 1, text: "the file is empty" }])
  const header = first.record.map((name) => name.trim())
  const wrong = headerMistakes(header, columns, optional)
  if (wrong.length > 0) return Either.left(wrong.map((text) => ({ line: first.info.lines, text })))
  const fits = (record: ReadonlyArray<string>): boolean => record.length === header.length
  return Either.right({
    absent: optional.filter((column) => !header.includes(column)),
    rows: rest
      .filter(({ record }) => fits(record))
      .map(({ info, record }) => ({
        line: info.lines,
        cell: (column) => (record[header.indexOf(column)] ?? "").trim(),
      })),
    mistakes: rest
      .filter(({ record }) => !fits(record))
      .map(({ info, record }) => ({
        line: info.lines,
        text: `has ${record.length} cells, the header has ${header.length}`,
      })),
  })
}

/** The rows of a file. Left: why the file as a whole cannot be read. */
export const readCsvFile = <Column extends string>(
  bytes: Uint8Array,
  columns: ReadonlyArray<Column>,
  optional: ReadonlyArray<Column> = [],
): Either.Either<CsvRead<Column>, ReadonlyArray<Mistake>> => {
  const read = Either.flatMap(decoded(bytes), records)
  return Either.isLeft(read) ? Either.left([read.left]) : tableOf(read.right, columns, optional)
}

/** The same of a workbook's sheet. Its rows have no length of their own: what lacks at the end is empty, and so is a row of nothing. */
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
    info: { lines: row },
  }))
  return tableOf(found, columns, optional)
}
