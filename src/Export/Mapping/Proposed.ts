/**
 * Proposes the names that accounts get in a system, where the mapping has none yet: the chart's codes or names, and a code of its own
 * for each bank account and wallet, which share one code in the chart.
 */
import { targets } from "../../Format/Targets.ts"
import type { BookRow } from "./MappingRow.ts"

/** `1010`, `1011`, … or `CASH-2`, `CASH-3`, …; undefined: the system takes none of them. */
const free = (code: string, taken: ReadonlySet<string>, pattern: RegExp): string | undefined => {
  const [, letters = "", digits = ""] = /^(.*?)(\d*)$/.exec(code) ?? []
  for (let more = 0; more < 1000; more += 1) {
    const next =
      digits === ""
        ? more === 0
          ? code
          : `${code}-${more + 1}`
        : `${letters}${String(BigInt(digits) + BigInt(more)).padStart(digits.length, "0")}`
    if (!taken.has(next) && pattern.test(next)) return next
  }
  return undefined
}

const proposedIn = (column: string, rows: ReadonlyArray<BookRow>): ReadonlyArray<BookRow> => {
  const target = targets.find((one) => one.column === column)
  if (target === undefined) return rows
  const { fallback, pattern } = target
  const others = rows.filter(({ role }) => role !== "cash").map((row) => row[fallback])
  const taken = new Set([...others, ...rows.map((row) => row[column] ?? "")])
  return rows.map((row) => {
    if ((row[column] ?? "") !== "") return row
    const own = row[fallback]
    const found = row.role === "cash" ? free(own, taken, pattern) : pattern.test(own) ? own : undefined
    if (found === undefined) return row
    if (row.role === "cash") taken.add(found)
    return { ...row, [column]: found }
  })
}

/** Book by book. */
export const proposed = (
  rows: ReadonlyArray<BookRow>,
  columns: ReadonlyArray<string>,
): ReadonlyArray<BookRow> => {
  const books = new Map<string, Array<BookRow>>()
  for (const row of rows) {
    const own = books.get(row.book)
    if (own === undefined) books.set(row.book, [row])
    else own.push(row)
  }
  return [...books.values()].flatMap((own) =>
    columns.reduce<ReadonlyArray<BookRow>>((named, column) => proposedIn(column, named), own),
  )
}
