/** Our reader of CSV against csv-parse, and what it refuses. */
import { parse } from "csv-parse/sync"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Problems } from "../../src/Common/Problems.ts"
import { readCsv } from "../../src/Verify/CsvRows.ts"

const columns = ["a", "b", "c"]

/** In pieces of so many bytes, so that rows, cells and characters are cut anywhere. */
const pieces = async function* (bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const readBytes = async (bytes: Buffer, size = 7) => {
  const problems = new Problems()
  const rows: Array<ReadonlyArray<string>> = []
  const lines: Array<number> = []
  const count = await readCsv(pieces(bytes, size), "x.csv", columns, problems, (row, line) => {
    rows.push(columns.map((_, column) => row.cell(column)))
    lines.push(line)
  })
  return { count, rows, lines, problems: problems.found.map(({ line, message }) => `${line}: ${message}`) }
}

const readText = (text: string, size?: number) => readBytes(Buffer.from(text, "utf8"), size)

const cell = fc.string({ unit: fc.constantFrom("a", "é", "𝄞", '"', ",", "\n", "\r", " ", "0") })
const written = (text: string, quoted: boolean) =>
  quoted || /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

describe("a CSV file of ours", () => {
  it("reads as csv-parse reads it, wherever it is cut", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.tuple(cell, fc.boolean()), { minLength: 3, maxLength: 3 }), { maxLength: 8 }),
        fc.integer({ min: 1, max: 40 }),
        async (rows, size) => {
          const text = [columns.map((name) => [name, false] as const), ...rows]
            .map((row) => `${row.map(([content, quoted]) => written(content, quoted)).join()}\n`)
            .join("")
          const found = await readText(text, size)
          expect(found.problems).toEqual([])
          expect(found.rows).toEqual(parse(text, { record_delimiter: "\n" }).slice(1))
          expect(found.count).toBe(rows.length)
          // The line on which a row begins is where its text stands.
          const all = text.split("\n")
          found.lines.forEach((line, at) => {
            const [first = ["", false]] = rows[at] ?? []
            expect(all[line - 1]?.startsWith(written(first[0], first[1]).split("\n")[0] ?? "")).toBe(true)
          })
        },
      ),
    )
  })

  it.each([
    ["a,b,c\n1,2\n", "2: has 2 cells, not 3"],
    ["a,b,c\n1,2,3,4\n", "2: has more than 3 cells"],
    ["a,b,c\n\n", "2: has 1 cells, not 3"],
    ['a,b,c\n1,"2"x,3\n', "2: something follows a quoted cell"],
    ['a,b,c\n1,2"2,3\n', "2: a quote stands within a cell that is not quoted"],
    ['a,b,c\n"x\ny",2,3\n1,2\n', "4: has 2 cells, not 3"],
    ['a,b,c\n1,2,"3\n', "2: the last row does not end"],
    ["a,b,c\n1,2,3", "2: the last row does not end"],
    ["a,b\n1,2\n", "1: has 2 cells, not 3"],
    ["a,b,d\n1,2,3\n", "1: the header is not a,b,c"],
    ["", "1: has no header"],
  ])("is refused: %j", async (text, problem) => {
    for (const size of [1, 2, 3, 1_000]) expect((await readText(text, size)).problems).toEqual([problem])
  })

  it("is refused where it is not UTF-8", async () => {
    const bytes = Buffer.concat([Buffer.from("a,b,c\n1,"), Buffer.from([0xff]), Buffer.from(",3\n")])
    expect((await readBytes(bytes, 1_000)).problems).toEqual(["1: is not UTF-8"])
  })
})
