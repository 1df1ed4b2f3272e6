/** The output of benchmarks, and their reading of the command line and of JSON. */

export const args = process.argv.slice(2)

export const optionOf = (name: string): string | undefined => {
  const at = args.indexOf(name)
  return at < 0 ? undefined : args[at + 1]
}

export const fieldOf = (document: unknown, key: string): unknown =>
  typeof document === "object" && document !== null ? Reflect.get(document, key) : undefined

export const textAt = (document: unknown, key: string): string => String(fieldOf(document, key) ?? "")

export const median = (values: ReadonlyArray<number>): number =>
  [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? Number.NaN

export const fixed = (value: number, digits = 2): string => value.toFixed(digits)

export const count = (value: number): string => Math.round(value).toLocaleString("en-US")

export const row = (cells: ReadonlyArray<string>): void => {
  process.stdout.write(`| ${cells.join(" | ")} |\n`)
}

/** The head of a table; a column that ends in `>` is aligned to the right. */
export const head = (...columns: ReadonlyArray<string>): void => {
  process.stdout.write("\n")
  row(columns.map((column) => column.replace(/>$/, "")))
  row(columns.map((column) => (column.endsWith(">") ? "---:" : "---")))
}
