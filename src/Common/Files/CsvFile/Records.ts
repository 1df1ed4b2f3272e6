/** The records of a CSV file in UTF-8, within bounds: a hostile or broken file is refused before rows are made of it. */

import { CsvError, parse } from "csv-parse/sync"
import { Either } from "effect"
import { counted } from "../../Text.ts"
import { longestRow, mostCells, mostColumns, mostLines, mostUneven } from "../RegularFile/ImportBounds.ts"

/** A mistake in a file, with its line (the first is 1). */
export interface Mistake {
  readonly line: number
  readonly text: string
}

const mistake = (line: number, text: string) => Either.left<Mistake>({ line, text })

const lineFeed = 0x0a
const separatorBytes = [0x2c, 0x3b, 0x09]

/** Refuses a file with too many lines or cells. Each line break and separator counts, also within quotes. */
const bounded = (bytes: Uint8Array): Either.Either<Uint8Array, Mistake> => {
  let line = 1
  let cells = 1
  for (let at = 0; at < bytes.length; at++) {
    if (line > mostLines) return mistake(line, `is more than the ${mostLines} lines that are read of a file`)
    if (cells > mostCells) return mistake(line, `is beyond the ${mostCells} cells that are read of a file`)
    const byte = bytes[at] ?? 0
    if (byte === lineFeed) line += 1
    if (byte === lineFeed || separatorBytes.includes(byte)) cells += 1
  }
  return Either.right(bytes)
}

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
    if (at < bytes.length && bytes[at] !== lineFeed) continue
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

/** The line is the one on which the record ends. */
export type Parsed = ReadonlyArray<{ readonly record: ReadonlyArray<string>; readonly line: number }>

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
  const [, named] = /^(?:\uFEFF)?"?sep=([^\r"]*)"?\r?$/i.exec(first) ?? []
  if (named === undefined) {
    return Either.right({ delimiter: separators.findLast((one) => first.includes(one)) ?? ",", fromLine: 1 })
  }
  return separators.includes(named)
    ? Either.right({ delimiter: named, fromLine: 2 })
    : mistake(
        1,
        `says that cells are separated by ${JSON.stringify(named)}, expected a comma, a semicolon or a tab`,
      )
}

/** Ends the reading of a file; its message says why. */
class Refused extends Error {
  override readonly name = "Refused"
  readonly line: number
  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

/** Clearing rows in a spreadsheet leaves their separators. In a workbook such rows are none either. */
const isEmptied = (record: ReadonlyArray<string>): boolean => record.every((cell) => cell.trim() === "")

/** Counts uneven records as they come, and refuses early: of each one the parser would make an error. */
const recordCollector = () => {
  const found: Array<Parsed[number]> = []
  let last: number | undefined
  let width: number | undefined
  let uneven = 0
  const keep = (record: ReadonlyArray<string>, line: number): void => {
    if (record.length > mostColumns) throw new Refused(line, `has more than ${mostColumns} cells`)
    last = line
    if (isEmptied(record)) return
    width ??= record.length
    if (record.length !== width) uneven += 1
    if (uneven > mostUneven) {
      const text = `has ${counted(record.length, "cell")}, the header has ${width}, and ${mostUneven} rows above do not fit the header either`
      throw new Refused(line, text)
    }
    found.push({ record, line })
  }
  return { found, keep, lastLine: () => last }
}

const whyNot = (cause: unknown, last: number): Mistake => {
  if (cause instanceof Refused) return { line: cause.line, text: cause.message }
  if (cause instanceof CsvError && cause.code === "CSV_MAX_RECORD_SIZE") {
    const text = `is longer than ${longestRow} bytes, and no row is: is a closing quote missing?`
    return { line: last + 1, text }
  }
  // The parser names the last line, to which the quote reaches.
  if (cause instanceof CsvError && cause.code === "CSV_QUOTE_NOT_CLOSED") {
    return { line: last + 1, text: "has a quote that is never closed" }
  }
  const found: unknown = cause instanceof CsvError && "lines" in cause ? cause.lines : undefined
  const text = `cannot be read as CSV: ${cause instanceof Error ? cause.message : String(cause)}`
  return { line: typeof found === "number" ? found : 1, text }
}

const records = (text: string): Either.Either<Parsed, Mistake> => {
  const layout = layoutOf(text)
  if (Either.isLeft(layout)) return Either.left(layout.left)
  const { delimiter, fromLine } = layout.right
  const { found, keep, lastLine } = recordCollector()
  const options = { delimiter, relax_column_count: true, skip_empty_lines: true, from_line: fromLine }
  try {
    // Within quotes the parser counts both characters of a line end.
    parse(text.replaceAll("\r\n", "\n"), {
      ...options,
      bom: true,
      max_record_size: longestRow,
      on_record: (record, { lines }) => {
        keep(record, lines)
        return null
      },
    })
    return Either.right(found)
  } catch (cause) {
    return Either.left(whyNot(cause, lastLine() ?? fromLine - 1))
  }
}

/** The records of a file as they are, the header first. Too large a file is refused before it is parsed. */
export const recordsOf = (bytes: Uint8Array): Either.Either<Parsed, Mistake> =>
  bounded(bytes).pipe(Either.flatMap(decoded), Either.flatMap(records))
