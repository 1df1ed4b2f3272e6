import { stringify } from "csv-stringify/sync"
import fc from "fast-check"
import { expect, it } from "vitest"
import { textCell, textCells } from "../../src/Common/Csv.ts"

/** What csv-stringify makes of one text, asked on its own. */
const stringified = (text: string): string =>
  stringify([[text]], { record_delimiter: "\0", quote_record_delimiter: true, escape_formulas: true }).slice(
    0,
    -1,
  )

const text = fc.oneof(
  fc.string({ unit: fc.constantFrom(..."aé漢 ',\"\r\n\t=+-@\uFF1D\uFF0B\uFF0D\uFF20;\u2028\u00a0") }),
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
