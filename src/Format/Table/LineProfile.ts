import type { Shape } from "./Define.ts"
import type { Column } from "./Profile.ts"

const journals: Omit<Shape, "columns"> = {
  encoding: "utf-8",
  delimiter: ",",
  lineEnd: "\n",
  quoteTexts: false,
  header: true,
  date: "MM/DD/YYYY",
  decimals: { least: 2, most: 8, mark: "." },
  digits: 20,
  text: { most: 200 },
  number: 80,
  limits: { rowsPerJournal: 10_000, rowsPerFile: 100_000 },
  filePerPeriod: false,
  row: "line",
  mode: "any",
  currencies: "any",
}

/** A CSV with a row per journal line, a header and a file per currency; `own` holds a system's differences. */
export const lineProfile = (
  columns: ReadonlyArray<Column>,
  own: Partial<Omit<Shape, "columns">> = {},
): Shape => ({ ...journals, columns, ...own })
