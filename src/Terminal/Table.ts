/** Rows in aligned columns. */

import { count, harmless, styled, truncate, widthOf } from "../Common/Text.ts"
import { withShortUuids } from "../Common/Uuid.ts"
import { wrapped } from "../Common/Wrap.ts"
import type { Screen } from "../Terminal.ts"

export interface Column {
  readonly title: string
  readonly align?: "left" | "right"
  /** May be cut where the terminal is too narrow. Identifiers and amounts never are. */
  readonly shrinks?: boolean
  /** A UUID: on a narrower screen its first eight digits, as commands take them. */
  readonly identifier?: boolean
  /** Sentences: cut where enough of them is left, and else, whole, on lines of their own. */
  readonly prose?: boolean
}

const gap = 2

/** The least width of a text that is cut, and of a sentence. */
const leastText = 8
const leastProse = 24

const canShrink = ({ prose, shrinks }: Column): boolean => prose === true || shrinks === true

/** The columns' widths; on a narrower screen the columns that may be cut shrink. */
const fitted = (columns: ReadonlyArray<Column>, widths: ReadonlyArray<number>, screen: number) => {
  let excess = widths.reduce((sum, width) => sum + width + gap, -gap) - screen
  return widths.map((width, index) => {
    const column = columns[index]
    if (excess <= 0 || column === undefined || !canShrink(column)) return width
    const kept = Math.max(column.prose === true ? leastProse : leastText, width - excess)
    excess -= Math.max(0, width - kept)
    return Math.min(width, kept)
  })
}

/** The indentation of a row's further lines, where it takes several. */
const indent = 2

/**
 * The columns as groups that fit side by side: one where the screen is wide enough. A column that is too wide is alone, and
 * so is one of `alone`.
 */
const grouped = (
  widths: ReadonlyArray<number>,
  screen: number,
  alone: (column: number) => boolean = () => false,
): ReadonlyArray<ReadonlyArray<number>> => {
  const groups: Array<Array<number>> = []
  let room = 0
  widths.forEach((width, column) => {
    const last = groups.at(-1)
    if (last === undefined || alone(column) || width + gap > room) {
      groups.push([column])
      room = alone(column) ? 0 : screen - (groups.length === 1 ? 0 : indent) - width
    } else {
      last.push(column)
      room -= width + gap
    }
  })
  return groups
}

/** The cells as they are shown: without what moves the cursor, and identifiers by their beginning where there is too little room. */
const shownCells = (
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  screen: Screen,
): { readonly cells: ReadonlyArray<ReadonlyArray<string>>; readonly widths: ReadonlyArray<number> } => {
  const whole = rows.map((row) => columns.map((_, index) => harmless(row[index] ?? "")))
  const widthsOf = (cells: ReadonlyArray<ReadonlyArray<string>>) =>
    columns.map(({ title }, index) =>
      cells.reduce((widest, row) => Math.max(widest, widthOf(row[index] ?? "")), widthOf(title)),
    )
  const widths = widthsOf(whole)
  if (grouped(fitted(columns, widths, screen.width), screen.width).length === 1)
    return { cells: whole, widths }
  const cells = whole.map((row) =>
    row.map((text, index) => (columns[index]?.identifier === true ? withShortUuids(text) : text)),
  )
  return { cells, widths: widthsOf(cells) }
}

/**
 * Lines without trailing space; the header is dim where colours are shown. Where the screen is too narrow for the columns, each
 * row, and the header, takes several lines.
 */
export const table = (
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  screen: Screen,
): ReadonlyArray<string> => {
  const { cells, widths: natural } = shownCells(columns, rows, screen)
  const shrunk = fitted(columns, natural, screen.width)
  const fits = grouped(shrunk, screen.width).length === 1
  const isProse = (column: number): boolean => columns[column]?.prose === true
  // On a line of its own a column has room for what would be cut beside the others.
  const widths = fits
    ? shrunk
    : natural.map((width, index) =>
        columns[index]?.shrinks === true ? Math.min(width, screen.width - indent) : width,
      )
  const groups = fits ? [columns.map((_, index) => index)] : grouped(widths, screen.width, isProse)
  const cell = (row: ReadonlyArray<string>, index: number): string => {
    const width = widths[index] ?? 0
    const text = truncate(row[index] ?? "", width)
    const padding = " ".repeat(Math.max(0, width - widthOf(text)))
    return columns[index]?.align === "right" ? padding + text : text + padding
  }
  const lines = (row: ReadonlyArray<string>): ReadonlyArray<string> =>
    groups
      .flatMap((group, index) => {
        const line = group.map((column) => cell(row, column)).join(" ".repeat(gap))
        const isSentence = !fits && group.some(isProse)
        // Sentences are indented further than the row that they belong to.
        const placed = `${" ".repeat(isSentence ? 2 * indent : index === 0 ? 0 : indent)}${line}`.trimEnd()
        return isSentence ? wrapped(placed, screen.width) : [placed]
      })
      .filter((line, index) => index === 0 || line !== "")
  const header = lines(columns.map(({ title }) => title))
  return [...header.map((line) => styled(screen.color, "dim", line)), ...cells.flatMap(lines)]
}

/** The most rows of a list that grows with the books; `--json` has all. */
export const mostRows = 200

/** What is said of the rows that are not listed. */
export const moreLines = (hidden: number): ReadonlyArray<string> =>
  hidden > 0 ? [`… and ${count(hidden)} more; --json lists them all.`] : []
