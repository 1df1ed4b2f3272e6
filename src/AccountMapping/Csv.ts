/** An account mapping as CSV, for an accountant's spreadsheet: UTF-8 with a byte order mark, CRLF. */
import { parse } from "csv-parse/sync"
import { Either, Schema } from "effect"
import { textCells } from "../Export/Csv.ts"
import { targetColumns } from "../Export/Targets.ts"
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

/** A mistake in a file, with its line from 1. */
export interface Mistake {
  readonly line: number
  readonly text: string
}

export interface Cells {
  readonly line: number
  readonly cells: Readonly<Record<(typeof mappingColumns)[number], string>>
}

const mistake = (line: number, text: string) => Either.left<Mistake>({ line, text })

const decoder = new TextDecoder("utf-8", { fatal: true })

/** The text of a file in UTF-8, or the line on which it stops being that. */
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

/** Lines end in a byte that occurs in no other character of UTF-8, so that each can be read alone. */
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

/** Spreadsheets of countries with a decimal comma part cells by semicolons. */
const delimiterOf = (text: string): "," | ";" => ((text.split("\n", 1)[0] ?? "").includes(";") ? ";" : ",")

const records = (text: string): Either.Either<Parsed, Mistake> => {
  try {
    const options = { delimiter: delimiterOf(text), relax_column_count: true, skip_empty_lines: true }
    return Either.right(asParsed(parse(text, { ...options, bom: true, info: true })))
  } catch (cause) {
    const found: unknown = cause instanceof Error && "lines" in cause ? cause.lines : undefined
    const line = typeof found === "number" ? found : 1
    return mistake(line, `cannot be read as CSV: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}

const headerMistakes = (header: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...mappingColumns
    .filter((column) => !header.includes(column))
    .map((column) => `lacks the column ${column}`),
  ...header
    .filter((name) => !mappingColumns.some((column) => column === name))
    .map((name) => `has the column ${JSON.stringify(name)}, which is none of ours`),
  ...header
    .filter((name, at) => header.indexOf(name) !== at)
    .map((name) => `has the column ${JSON.stringify(name)} twice`),
]

const cellsOf = (header: ReadonlyArray<string>, record: ReadonlyArray<string>): Cells["cells"] => {
  const of = (column: string): string => (record[header.indexOf(column)] ?? "").trim()
  return {
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
  }
}

/** The rows of a file with their lines, columns in any order. Rows of another length than the header are mistakes. */
export const readMapping = (
  bytes: Uint8Array,
): Either.Either<ReadonlyArray<Cells>, ReadonlyArray<Mistake>> => {
  const read = Either.flatMap(decoded(bytes), records)
  if (Either.isLeft(read)) return Either.left([read.left])
  const [first, ...rest] = read.right
  if (first === undefined) return Either.left([{ line: 1, text: "the file is empty" }])
  const header = first.record.map((name) => name.trim())
  const mistakes: Array<Mistake> = headerMistakes(header).map((text) => ({ line: 1, text }))
  for (const { info, record } of rest) {
    if (record.length !== header.length) {
      mistakes.push({
        line: info.lines,
        text: `has ${record.length} cells, the header has ${header.length}`,
      })
    }
  }
  if (mistakes.length > 0) return Either.left(mistakes)
  return Either.right(rest.map(({ info, record }) => ({ line: info.lines, cells: cellsOf(header, record) })))
}
