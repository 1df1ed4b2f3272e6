import { parse } from "csv-parse/sync"
import { stringify } from "csv-stringify/sync"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { guarded, textCell, textCells } from "../../src/Common/Csv.ts"

/** What csv-stringify makes of one text, asked on its own. */
const stringified = (text: string): string =>
  stringify([[guarded(text)]], {
    record_delimiter: "\0",
    quote_record_delimiter: true,
    quoted_match: /[;\t]|^'?\s/,
  }).slice(0, -1)

const text = fc.oneof(
  fc.string({ unit: fc.constantFrom(..."aé漢 ',\"\r\n\t\v=+-@\uFF1D\uFF0B\uFF0D\uFF20;\u2028\u00a0\uFEFF") }),
  fc.string({ unit: "grapheme" }).filter((some) => !some.includes("\0")),
)

it("every text becomes the cell that csv-stringify makes of it, alone or among others, the first time and again", () => {
  fc.assert(
    fc.property(fc.array(text, { maxLength: 20 }), (texts) => {
      const cells = texts.map(stringified)
      expect(textCells(texts)).toEqual(cells)
      expect(texts.map(textCell)).toEqual(cells)
      expect(textCells([...texts].reverse())).toEqual([...cells].reverse())
    }),
  )
})

it("cells that were forgotten are made anew", () => {
  const many = Array.from({ length: 9_000 }, (_, at) => `a, ${at}`)
  const some = ["=1", ...many.slice(0, 10)]
  const first = textCells(some)
  for (let at = 0; at < many.length; at += 1_000) textCells(many.slice(at, at + 1_000))
  expect(textCells([...some, "b,"])).toEqual([...first, '"b,"'])
  expect(first[0]).toBe("'=1")
  expect(first[1]).toBe('"a, 0"')
})

describe("no spreadsheet runs a text as a formula", () => {
  it.each([
    ["=1", "'=1"],
    [" =1", `"' =1"`],
    ["\u00a0=1", `"'\u00a0=1"`],
    ["\uFEFF=1", `"'\uFEFF=1"`],
    ["\v=1", `"'\v=1"`],
    ["\n=1", `"\n'=1"`],
    ["a;=1", `"a;'=1"`],
    ['a;"=1', `"a;'""=1"`],
    ["a\t @x", `"a\t' @x"`],
    ["a\n-1;+2", `"a\n'-1;'+2"`],
    ["a-b; c=d", `"a-b; c=d"`],
    ["a - b", "a - b"],
    ["' a", `"' a"`],
  ])("%j", (some, cell) => {
    expect(textCell(some)).toBe(cell)
  })

  /** Begins a formula, whatever a spreadsheet passes over before it. */
  const runs = /^[\s"]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/

  const lines = fc.array(fc.tuple(text, text, text), { minLength: 1, maxLength: 5 })

  it("whether it separates cells by commas, or by semicolons or tabs and takes quotes within a line for text", () => {
    fc.assert(
      fc.property(lines, (rows) => {
        const csv = rows.map((row) => `${textCells(row).join(",")}\r\n`).join("")
        const cells = parse(csv, { record_delimiter: "\r\n" }).flat()
        expect(cells.map(String)).toEqual(rows.flat().map(guarded))
        for (const separator of [";", "\t"])
          cells.push(...csv.split(/[\r\n]/).flatMap((line) => line.split(separator)))
        for (const cell of cells) expect(cell).not.toMatch(runs)
        for (const delimiter of [";", "\t"]) {
          const options = { delimiter, relax_quotes: true, relax_column_count: true, skip_empty_lines: true }
          // Some texts leave a quotation open, which csv-parse refuses; the split above has looked at those.
          try {
            for (const cell of parse(csv, options).flat()) expect(String(cell)).not.toMatch(runs)
          } catch (error) {
            if (!(error instanceof Error && "code" in error)) throw error
          }
        }
      }),
      { numRuns: 500 },
    )
  })

  it("looks over a long run of white space once", () => {
    const long = "\t ".repeat(500_000)
    expect(guarded(`a${long}b=`)).toBe(`a${long}b=`)
    expect(guarded(`a;${" ".repeat(1_000_000)}=`)).toHaveLength(1_000_004)
  })
})
