import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { openFolder } from "../../src/Export/Batch/Folder.ts"
import { mostWaiting } from "../../src/Export/Batch/FolderFile.ts"
import { streamedChunks } from "../../src/Export/Source/Chunks.ts"
import { bucketOf } from "../../src/Report/Receivables/Ageing.ts"
import { writeSheet } from "../../src/Report/Sheet.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"

const columns = { name: "text", amount: "figure" } as const

const nameOf = (row: number): string => `row ${row} ${"x".repeat(1_000)}`

describe("a review file", () => {
  it.scoped("is written as its rows come, and remembers only the first of them", () =>
    Effect.gen(function* () {
      const path = join(temporaryFolder(), "sheet")
      const folder = yield* openFolder(path)
      let asked = 0
      let ahead = 0
      const chunks = Stream.range(1, 500).pipe(
        Stream.rechunk(1),
        Stream.mapEffect((at) =>
          Effect.sync(() => {
            asked += 1
            const size = readFileSync(join(path, "sheet.csv.partial")).length
            // Everything before this chunk is in the file already, but for what is put together first.
            if (size < (at - 1) * 1_000 - mostWaiting) ahead += 1
            return [{ name: nameOf(at), amount: `-${at}.00` }]
          }),
        ),
      )
      const written = yield* writeSheet(folder, { name: "sheet.csv", columns }, streamedChunks(chunks), 3)
      expect([asked, ahead, written.rows]).toEqual([500, 0, 500])
      expect(written.first).toEqual([1, 2, 3].map((at) => ({ name: nameOf(at), amount: `-${at}.00` })))
      expect(readFileSync(join(path, "sheet.csv.partial"), "utf8").split("\r\n").slice(0, 3)).toEqual([
        "\uFEFFname,amount",
        `${nameOf(1)},-1.00`,
        `${nameOf(2)},-2.00`,
      ])
    }),
  )

  it.scoped.each([
    ["=1+1", "'=1+1"],
    ["-5", "'-5"],
    ["+49 30", "'+49 30"],
    ["@x", "'@x"],
    ["\tx", `"'\tx"`],
    ["a,b", '"a,b"'],
    ['say "x"', '"say ""x"""'],
    ["", ""],
  ])("holds the text %j as %j", ([text = "", cell]) =>
    Effect.gen(function* () {
      const path = join(temporaryFolder(), "sheet")
      const folder = yield* openFolder(path)
      const rows = Stream.make([{ name: text, amount: "-1" }])
      yield* writeSheet(folder, { name: "sheet.csv", columns }, streamedChunks(rows), 0)
      expect(readFileSync(join(path, "sheet.csv.partial"), "utf8")).toBe(
        `\uFEFFname,amount\r\n${cell},-1\r\n`,
      )
    }),
  )
})

describe("the age of a receivable", () => {
  it("is counted in whole days", () => {
    expect([-3, 0, 30, 31, 60, 61, 90, 91].map(bucketOf)).toEqual([
      ...["days_0_30", "days_0_30", "days_0_30", "days_31_60"],
      ...["days_31_60", "days_61_90", "days_61_90", "days_over_90"],
    ])
  })
})
