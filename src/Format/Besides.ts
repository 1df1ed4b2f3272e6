/** Files that accompany an export in any format: their names in the manifest, and their file names. */
export const besides = {
  /** The provider's statement, which proves the journal. */
  statement: { name: "statement", file: "statement.csv" },
  /** With every export in the base currency. */
  nativeMovements: { name: "native-movements", file: "native_movements.csv" },
  /** With an as-of export: what was recorded since. */
  difference: { name: "difference", file: "difference.csv" },
} as const
