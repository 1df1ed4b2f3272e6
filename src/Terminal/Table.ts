/** Rows in aligned columns. */

import { harmless, styled, truncate, widthOf } from "../Common/Text.ts"
import type { Screen } from "../Terminal.ts"

export interface Column {
  readonly title: string
  readonly align?: "left" | "right"
  /** May be cut where the terminal is too narrow. Identifiers and amounts never are. */
  readonly shrinks?: boolean
}

const gap = 2

/** The columns' widths; on a narrower screen the columns that may be cut shrink. */
const fitted = (columns: ReadonlyArray<Column>, widths: ReadonlyArray<number>, screen: number) => {
  let excess = widths.reduce((sum, width) => sum + width + gap, -gap) - screen
  return widths.map((width, index) => {
    if (excess <= 0 || columns[index]?.shrinks !== true) return width
    const kept = Math.max(8, width - excess)
    excess -= Math.max(0, width - kept)
    return Math.min(width, kept)
  })
}

/** What the continued lines of a row are moved in by, where it takes several. */
const indent = 2

/** The columns as groups that fit side by side: one where the screen is wide enough. A column that is too wide is alone. */
const grouped = (widths: ReadonlyArray<number>, screen: number): ReadonlyArray<ReadonlyArray<number>> => {
  const groups: Array<Array<number>> = []
  let room = 0
  widths.forEach((width, column) => {
    const last = groups.at(-1)
    if (last === undefined || width + gap > room) {
      groups.push([column])
      room = screen - (groups.length === 1 ? 0 : indent) - width
    } else {
      last.push(column)
      room -= width + gap
    }
  })
  return groups
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
  const cells = rows.map((row) => columns.map((_, index) => harmless(row[index] ?? "")))
  const natural = columns.map(({ title }, index) =>
    cells.reduce((widest, row) => Math.max(widest, widthOf(row[index] ?? "")), widthOf(title)),
  )
  const shrunk = fitted(columns, natural, screen.width)
  const fits = grouped(shrunk, screen.width).length === 1
  // With lines of its own a column has room for what it would lose beside the others.
  const widths = fits
    ? shrunk
    : natural.map((width, index) =>
        columns[index]?.shrinks === true ? Math.min(width, screen.width - indent) : width,
      )
  const groups = fits ? [columns.map((_, index) => index)] : grouped(widths, screen.width)
  const cell = (row: ReadonlyArray<string>, index: number): string => {
    const width = widths[index] ?? 0
    const text = truncate(row[index] ?? "", width)
    const padding = " ".repeat(Math.max(0, width - widthOf(text)))
    return columns[index]?.align === "right" ? padding + text : text + padding
  }
  const lines = (row: ReadonlyArray<string>): ReadonlyArray<string> =>
    groups
      .map((group, index) => {
        const line = group.map((column) => cell(row, column)).join(" ".repeat(gap))
        return (index === 0 ? line : " ".repeat(indent) + line).trimEnd()
      })
      .filter((line, index) => index === 0 || line !== "")
  const header = lines(columns.map(({ title }) => title))
  return [...header.map((line) => styled(screen.color, "dim", line)), ...cells.flatMap(lines)]
}
