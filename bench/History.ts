/** The history of measurements in `bench/README.md`, a line for each, and the gate that compares with the last one. */
import { readFileSync } from "node:fs"

/** One measurement. Ratios are to the floor, or to COPY, of the same run. */
export interface Line {
  readonly date: string
  readonly node: string
  readonly size: number
  readonly wallRatio: number
  readonly processorRatio: number
  /** Processor time of Node and Postgres for each statement entry. */
  readonly microseconds: number
  /** The peak of Node's resident set size. */
  readonly megabytes: number
  /** Of the database for each statement entry. */
  readonly bytes: number
  readonly exportRatio: number
}

/** The share by which a measurement must exceed the last line before it counts: more than noise alone causes. */
const allowed = 0.1

export const lineText = (line: Line): string =>
  `| ${[
    line.date,
    line.node,
    line.size.toLocaleString("en-US"),
    line.wallRatio.toFixed(2),
    line.processorRatio.toFixed(2),
    line.microseconds.toFixed(0),
    line.megabytes.toFixed(0),
    line.bytes.toFixed(0),
    line.exportRatio.toFixed(2),
  ].join(" | ")} |`

const numberOf = (text: string | undefined): number => Number((text ?? "").replaceAll(",", ""))

/** The processor ratio that was measured last at a size; none where it never was. */
export const lastLine = (size: number): number | undefined => {
  const text = readFileSync(new URL("README.md", import.meta.url), "utf8")
  return text
    .split("\n")
    .filter((line) => /^\| +\d{4}-\d{2}-\d{2} /.test(line))
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .filter((cells) => numberOf(cells[3]) === size)
    .map((cells) => numberOf(cells[5]))
    .at(-1)
}

/** The message where a measurement is above the last one. */
export const tooSlow = (line: Line, last: number | undefined): string | undefined =>
  last !== undefined && line.processorRatio > last * (1 + allowed)
    ? `The cold sync of ${line.size.toLocaleString("en-US")} entries takes ${line.processorRatio.toFixed(2)} times its floor's processor time, and took ${last.toFixed(2)} times.`
    : undefined
