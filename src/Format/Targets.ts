/** The columns of an account mapping: one per accounting system, and what each system takes as an account. */
import { tableFormats } from "./Formats.ts"
import type { Target } from "./Table/Define.ts"

/** What every system may divide its accounts by. */
const dimension: Target = {
  column: "dimension",
  pattern: /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,35}$/,
  expects: "at most 36 letters, digits, spaces, dots and dashes",
  fallback: "code",
}

export const targets: ReadonlyArray<Target> = [
  ...tableFormats.flatMap(({ target }) => target ?? []),
  dimension,
]

export const targetColumns: ReadonlyArray<string> = targets.map(({ column }) => column)
