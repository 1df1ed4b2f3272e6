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

/** Lines without trailing space; the header is dim where colours are shown. */
export const table = (
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  screen: Screen,
): ReadonlyArray<string> => {
  const cells = rows.map((row) => columns.map((_, index) => harmless(row[index] ?? "")))
  const natural = columns.map(({ title }, index) =>
    cells.reduce((widest, row) => Math.max(widest, widthOf(row[index] ?? "")), widthOf(title)),
  )
  const widths = fitted(columns, natural, screen.width)
  const line = (row: ReadonlyArray<string>) =>
    columns
      .map(({ align }, index) => {
        const width = widths[index] ?? 0
        const text = truncate(row[index] ?? "", width)
        const padding = " ".repeat(Math.max(0, width - widthOf(text)))
        return align === "right" ? padding + text : text + padding
      })
      .join(" ".repeat(gap))
      .trimEnd()
  return [styled(screen.color, "dim", line(columns.map(({ title }) => title))), ...cells.map(line)]
}
