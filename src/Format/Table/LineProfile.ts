import type { Column, Profile } from "./Profile.ts"

type Shared = Omit<Profile, "name" | "file" | "target" | "columns">

const journals: Shared = {
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
  currency: /^[A-Z0-9]{3,5}$/,
}

/** A CSV with a row per journal line, a header and a file per currency; `own` is what a system wants otherwise. */
export const lineProfile = (
  name: string,
  target: Profile["target"],
  columns: ReadonlyArray<Column>,
  own: Partial<Shared & Pick<Profile, "file">> = {},
): Profile => ({ ...journals, name, file: `${name}-{currency}{part}.csv`, target, columns, ...own })
