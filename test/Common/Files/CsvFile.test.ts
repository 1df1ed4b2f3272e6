/** Files that a person names and that would take more memory or time than there is: refused, with what and where. */
import { truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { readCsvFile, readRecords } from "../../../src/Common/Files/CsvFile.ts"
import { readMapping } from "../../../src/Export/Mapping/MappingCsv.ts"
import { importRates } from "../../../src/Rates.ts"
import { readEcbHistory } from "../../../src/Valuation/Rates/EcbHistory.ts"
import { readRates } from "../../../src/Valuation/Rates/RatesCsv.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const header = "date,from,to,rate,source\n"
const ecb = `Date,USD,${"A".repeat(70_000)}\n`
const long = "a".repeat(70_000)

const tooLong = (line: number) => [
  { line, text: "is longer than 65536 bytes, and no row is: is a closing quote missing?" },
]
const tooMany = (line: number) => [{ line, text: "has more than 256 cells" }]

describe("a CSV file is refused", () => {
  it.each([
    ["a cell", `${header}${long}`, tooLong(2)],
    ["a quoted cell that does not end", `${header}2026-01-01,"${"a\n".repeat(40_000)}`, tooLong(2)],
    ["the header", `${long},from\n`, tooLong(1)],
    ["the header's cells", `${",".repeat(300)}\n`, tooMany(1)],
    ["a row's cells", `${header}${",".repeat(300)}\n`, tooMany(2)],
    ["cells between line breaks", `${header}${'"\n",,,,,,,,,,'.repeat(40)}\n`, tooMany(42)],
  ])("that exceeds what %s may have", (_, text, mistakes) => {
    expect(readRates(Buffer.from(text))).toEqual(Either.left(mistakes))
  })

  it("by every reader", async () => {
    expect(readEcbHistory(Buffer.from(ecb))).toEqual(Either.left(tooLong(1)))
    expect(await readMapping(Buffer.from(`book,role\n${long}`))).toEqual(Either.left(tooLong(2)))
  })

  it("that has more lines than a million", () => {
    expect(readRecords(Buffer.from("\n".repeat(1_000_001)))).toEqual(
      Either.left({ line: 1_000_001, text: "is more than the 1000000 lines that are read of a file" }),
    )
  })

  it("that has more cells than eight million, in whatever lines", () => {
    const text = `${",".repeat(199)}\n`.repeat(40_001)
    expect(readRecords(Buffer.from(text))).toEqual(
      Either.left({ line: 40_001, text: "is beyond the 8000000 cells that are read of a file" }),
    )
  })

  it.each(["\n", "\r\n"])("where a quote is never closed, at the line of its row", (lineEnd) => {
    const lines = ["a,b", '1,"x', 'y"', '2,"z', "3,w", "4,w", ""]
    expect(readRecords(Buffer.from(lines.join(lineEnd)))).toEqual(
      Either.left({ line: 4, text: "has a quote that is never closed" }),
    )
  })

  it("after a thousand rows of another length, which say enough", () => {
    const text = "has 1 cell, the header has 2, and 1000 rows above do not fit the header either"
    const read = (rows: number) => readCsvFile(Buffer.from(`a,b\n${"1\n".repeat(rows)}`), ["a", "b"])
    expect(read(5_000)).toEqual(Either.left([{ line: 1_002, text }]))
    expect(Either.getOrThrow(read(1_000)).mistakes).toHaveLength(1_000)
  })
})

describe("rows that a spreadsheet has emptied", () => {
  it("are none, whatever their length, and the others keep their lines", () => {
    const text = "a;b\r\n;\r\n1;2\r\n;\r\n;;;\r\n  ;\r\n3;4\r\n;\r\n"
    const { mistakes, rows } = Either.getOrThrow(readCsvFile(Buffer.from(text), ["a", "b"]))
    expect(mistakes).toEqual([])
    expect(rows.map(({ cell, line }) => [line, cell("a"), cell("b")])).toEqual([
      [3, "1", "2"],
      [7, "3", "4"],
    ])
  })

  it("do not hide on which line a quote is never closed", () => {
    expect(readRecords(Buffer.from('a,b\n,\n,\n2,"z\n3,w\n'))).toEqual(
      Either.left({ line: 4, text: "has a quote that is never closed" }),
    )
  })
})

it("a row of 65,536 bytes in 256 cells is read", () => {
  const cells = ["a".repeat(65_536), ...Array.from({ length: 255 }, () => "")]
  expect(readRecords(Buffer.from(`${cells.join()}\n`))).toEqual(Either.right([{ line: 1, cells }]))
})

it.effect("a file of more than 64 MiB is not read", () =>
  Effect.gen(function* () {
    const file = join(temporaryFolder(), "rates.csv")
    writeFileSync(file, header)
    truncateSync(file, 64 * 1024 * 1024 + 1)
    expect(yield* Effect.flip(importRates(file))).toMatchObject({
      reason: "Unreadable",
      message: `${file}: has 67108865 bytes, and at most 67108864 are read. Nothing was stored: name a CSV file that you may read.`,
    })
  }).pipe(Effect.provide(TestDatabase.layer)),
)
