/** Reads a CSV file of ours row by row with flat memory. */
import { parse } from "csv-parse"
import type { Problems } from "../Common/Problems.ts"
import { streamOf } from "../Common/RegularFile.ts"

const isRow = (row: unknown): row is ReadonlyArray<string> =>
  Array.isArray(row) && row.every((cell) => typeof cell === "string")

/** Line feeds within the cells: an editor counts them as lines, csv-parse counts carriage returns as well. */
const lineFeeds = (cells: ReadonlyArray<string>): number => {
  let count = 0
  for (const cell of cells) {
    for (let at = cell.indexOf("\n"); at >= 0; at = cell.indexOf("\n", at + 1)) count += 1
  }
  return count
}

/**
 * Calls `row` for each record with the line on which it begins. The header and the number of columns must be exactly the
 * given ones; what cannot be read as RFC 4180 ends the reading with a problem. Returns the rows read.
 */
export const readCsv = async (
  folder: string,
  file: string,
  columns: ReadonlyArray<string>,
  problems: Problems,
  row: (cells: ReadonlyArray<string>, line: number) => void,
): Promise<number> => {
  const source = await streamOf(`${folder}/${file}`)
  const parser = parse({
    bom: false,
    record_delimiter: "\n",
    relax_column_count: false,
    max_record_size: 1e7,
  })
  source.on("error", (error) => parser.destroy(error))
  source.pipe(parser)
  let rows = -1
  let line = 1
  try {
    for await (const cells of parser) {
      if (!isRow(cells)) throw new Error("cannot be read as rows of text")
      rows += 1
      if (rows > 0) row(cells, line)
      else if (cells.join() !== columns.join()) {
        problems.add(file, 1, `the header is not ${columns.join()}`)
        break
      }
      line += 1 + lineFeeds(cells)
    }
  } catch (error) {
    problems.add(file, null, error instanceof Error ? error.message : String(error))
  } finally {
    source.destroy()
    parser.destroy()
  }
  if (rows < 0) problems.add(file, 1, "has no header")
  return Math.max(0, rows)
}
