/** Workbooks: what LibreOffice finds in them, cell by cell, and what is read back. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { parse } from "csv-parse/sync"
import fc from "fast-check"
import { readXlsx, writeXlsx } from "hucre/xlsx"
import { guarded } from "../../src/Common/Csv.ts"
import {
  isExactNumber,
  isWorkbook,
  NoWorkbook,
  readWorkbook,
  type WorkbookCell,
  writeWorkbook,
} from "../../src/Common/Workbook/Workbook.ts"
import { convertWithLibreOffice, isInstalled } from "../support/Installed.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"

const there = isInstalled("soffice", "workbooks are not opened with it")

/** Plain decimals of up to 24 digits with up to 18 decimals. */
const decimals = fc
  .tuple(fc.bigInt(-(10n ** 24n), 10n ** 24n), fc.integer({ min: 0, max: 18 }))
  .map(([units, scale]) => {
    const digits = String(units < 0n ? -units : units).padStart(scale + 1, "0")
    const at = digits.length - scale
    return `${units < 0n ? "-" : ""}${digits.slice(0, at)}${scale === 0 ? "" : `.${digits.slice(at)}`}`
  })

const awkward = [
  "=1+1",
  "+1",
  "-1+1",
  "@SUM(A1)",
  "a;=1+1",
  "0012",
  "1E5",
  "1/2",
  "_x0041_",
  "_x000D_",
  "é≠\u{1F600}",
  "<&>\"'",
]
const cells = fc.oneof(
  decimals.map((figure): WorkbookCell => ({ figure })),
  fc
    .integer({ min: -99_999, max: 99_999 })
    .map((units): WorkbookCell => ({ figure: (units / 100).toFixed(2) })),
  fc.constantFrom<WorkbookCell>(...awkward),
  fc.stringMatching(/^[A-Za-z =;]{1,12}$/).map((text): WorkbookCell => text),
)
const sheets = fc.sample(
  fc.array(fc.array(cells, { minLength: 4, maxLength: 4 }), { minLength: 30, maxLength: 30 }),
  {
    numRuns: 4,
    seed: 14,
  },
)
const header = ["one", "two", "=three", "four"]

describe("a workbook", () => {
  it("has a number only where all digits of an amount fit", () => {
    for (const [decimal, exact] of [
      ["0.00", true],
      ["-999999999999.999", true],
      ["1234567890123456", false],
      ["1234567890123450", true],
      ["0.000000000000000001", true],
      ["100.000000000000000001", false],
      ["0.1234567890123456", false],
    ] as const) {
      expect([decimal, isExactNumber(decimal)]).toEqual([decimal, exact])
    }
    fc.assert(
      fc.property(decimals, (decimal) => {
        if (!isExactNumber(decimal)) return
        const scale = decimal.split(".")[1]?.length ?? 0
        // What a spreadsheet shows: the double's first fifteen digits.
        const [mantissa = "", exponent = "0"] = Number(decimal).toExponential(14).split("e")
        const shown = BigInt(mantissa.replace(".", "")) * 10n ** 40n
        const moved = Number(exponent) - 14 + scale
        const units = moved >= 0 ? shown * 10n ** BigInt(moved) : shown / 10n ** BigInt(-moved)
        expect(units / 10n ** 40n).toBe(BigInt(decimal.replace(".", "")))
      }),
    )
  })

  it("is read back as it was written", async () => {
    const rows = [
      ["0012", "=1+1", "x\ny"],
      ["", "1010"],
      [{ figure: "12.50" }, "a"],
    ]
    const bytes = await writeWorkbook([{ name: "A", header: ["a", "b", "c"], rows }])
    expect(isWorkbook(bytes)).toBe(true)
    expect((await readWorkbook(bytes)).map(({ cells: read }) => read)).toEqual([
      ["a", "b", "c"],
      ["0012", "'=1+1", "x\ny"],
      ["", "1010"],
      ["12.5", "a"],
    ])
  })

  it("holds a text that XML cannot write, or that looks like an escape of XML, and every other text beside it", async () => {
    const rows = [["a\ufffeb\uffffc", "_x0041_", "_x000D_", "__x0041_", "plain"]]
    const read = await readWorkbook(await writeWorkbook([{ name: "A", header: ["a"], rows }]))
    expect(read.map(({ cells: found }) => found)).toEqual([
      ["a"],
      ["a\ufffdb\ufffdc", "_x0041_", "_x000D_", "__x0041_", "plain"],
    ])
  })

  it("that is none, or too large, is refused", async () => {
    await expect(readWorkbook(new Uint8Array([0x50, 0x4b, 3, 4, 0, 0]))).rejects.toThrow(NoWorkbook)
    await expect(readWorkbook(new Uint8Array((4 << 20) + 1))).rejects.toThrow("more than 4 MiB")
    const many = await writeWorkbook([
      { name: "A", header: ["a"], rows: Array.from({ length: 50_001 }, () => ["x"]) },
    ])
    await expect(readWorkbook(many)).rejects.toThrow("more than 50000 rows")
  })

  it.skipIf(!there)(
    "opens in LibreOffice with every cell as it was: numbers, texts and no formula",
    async () => {
      const file = join(temporaryFolder(), "book.xlsx")
      writeFileSync(file, await writeWorkbook(sheets.map((rows, at) => ({ name: `S${at}`, header, rows }))))
      // Comma, double quote, UTF-8; every sheet.
      const output = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,true,false,false,false,false,-1"
      const texts = convertWithLibreOffice([file], { output })
      const calc = readFileSync(join(convertWithLibreOffice([file], { output: "fods" }), "book.fods"), "utf8")
      expect(calc).not.toContain("table:formula")
      const numbers = [...calc.matchAll(/<table:table-cell([^>]*)office:value="([^"]+)"/g)].flatMap(
        ([, attributes = "", value = ""]) => {
          const times = Number(/number-columns-repeated="(\d+)"/.exec(attributes)?.[1] ?? 1)
          return Array.from({ length: times }, () => Number(value))
        },
      )
      const figures: Array<string> = []
      for (const [at, rows] of sheets.entries()) {
        const found = parse(readFileSync(join(texts, `book-S${at}.csv`), "utf8"))
        expect(found).toHaveLength(rows.length + 1)
        for (const [row, content] of rows.entries()) {
          for (const [column, cell] of content.entries()) {
            if (cell !== null && typeof cell !== "string" && isExactNumber(cell.figure))
              figures.push(cell.figure)
            else {
              const text = cell === null ? "" : typeof cell === "string" ? guarded(cell) : cell.figure
              expect(found[row + 1]?.[column]).toBe(text)
            }
          }
        }
      }
      expect(figures.length).toBeGreaterThan(100)
      expect(numbers).toEqual(figures.map(Number))
    },
  )
})

describe("a workbook that a person hands in", () => {
  it("is not unpacked where it holds much more than it weighs", async () => {
    const long = "x".repeat(30_000)
    const rows = Array.from({ length: 2_000 }, (_, at) => [`${at}${long}`])
    const bomb = await writeWorkbook([{ name: "S", header: ["a"], rows }])
    expect(bomb.length).toBeLessThan(4 << 20)
    await expect(readWorkbook(bomb)).rejects.toThrow("unpacks to more than 48 MiB")
    // The sizes that the archive states are not believed.
    const lying = Buffer.from(bomb)
    for (let at = lying.indexOf("PK\u0001\u0002"); at >= 0; at = lying.indexOf("PK\u0001\u0002", at + 4)) {
      lying.writeUInt32LE(10, at + 24)
    }
    await expect(readWorkbook(lying)).rejects.toThrow("unpacks to more than 48 MiB")
    // An end that names no entry, and a second directory, of large archives, that the library takes instead.
    const end = bomb.length - 22
    const { buffer, byteOffset } = bomb
    const place = new DataView(buffer, byteOffset, bomb.length)
    const second = Buffer.alloc(76 + 22)
    second.writeUInt32LE(0x06064b50, 0)
    second.writeBigUInt64LE(44n, 4)
    second.writeBigUInt64LE(BigInt(place.getUint16(end + 10, true)), 32)
    second.writeBigUInt64LE(BigInt(place.getUint32(end + 12, true)), 40)
    second.writeBigUInt64LE(BigInt(place.getUint32(end + 16, true)), 48)
    second.writeUInt32LE(0x07064b50, 56)
    second.writeBigUInt64LE(BigInt(end), 64)
    second.writeUInt32LE(1, 72)
    second.writeUInt32LE(0x06054b50, 76)
    second.writeUInt32LE(0xffffffff, 76 + 12)
    await expect(readWorkbook(Buffer.concat([bomb.subarray(0, end), second]))).rejects.toThrow(
      "the directory of a far larger archive",
    )
    const small = await writeWorkbook([{ name: "S", header: ["a"], rows: [["1"]] }])
    expect(await readWorkbook(small)).toHaveLength(2)
    await expect(readWorkbook(small.subarray(0, small.length - 30))).rejects.toThrow("cannot be read")
  })
  it("has no cells far to the right, each of which becomes a row of sixteen thousand", async () => {
    const far = [...Array.from({ length: 300 }, () => null), "x"]
    const wide = await writeWorkbook([{ name: "S", header: ["a"], rows: [["b"], far] }])
    await expect(readWorkbook(wide)).rejects.toMatchObject({ row: 3, message: "has more than 256 cells" })
    const edge = { style: { font: { bold: true } } }
    const rows = Array.from({ length: 600 }, (_, row) => [`${row}`])
    const formatted = (count: number) =>
      writeXlsx({
        sheets: [
          { name: "S", rows, cells: new Map(rows.slice(0, count).map((_, row) => [`${row},16383`, edge])) },
        ],
      })
    // Colours to the right edge of some rows are no mistake.
    expect((await readWorkbook(await formatted(3)))[2]).toEqual({ row: 3, cells: ["2"] })
    await expect(readWorkbook(await formatted(600))).rejects.toMatchObject({
      row: 489,
      message: "is beyond the 8000000 cells that are read of a file",
    })
  })
})

describe("a sheet on paper", () => {
  it("is one page wide with its header on each page, and a figure stands below its title", async () => {
    const rows = Array.from({ length: 3 }, () => ["Cash", { figure: "1.50" }])
    const { sheets } = await readXlsx(
      await writeWorkbook([{ name: "Balances", header: ["account", "closing"], rows }]),
      { readStyles: true },
    )
    expect(sheets[0]?.pageSetup).toMatchObject({
      ...{ orientation: "landscape", fitToWidth: 1, fitToHeight: 0, printTitlesRow: "$1:$1" },
    })
    const alignment = (at: string) => sheets[0]?.cells?.get(at)?.style?.alignment?.horizontal
    expect([alignment("0,0"), alignment("0,1"), alignment("1,1")]).toEqual([undefined, "right", "right"])
  })
})
