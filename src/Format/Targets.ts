/** The columns of an account mapping, one per accounting system, each with the accounts that the system allows. */
import { tableFormats } from "./Formats.ts"
import type { Target } from "./Table/Define.ts"

/** The dimension that any system may split its accounts by. */
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
