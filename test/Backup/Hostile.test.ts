/** Files that claim to be backups and would exhaust the memory of whoever reads them. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { readBack } from "../../src/Backup/ReadBack.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"

const header = JSON.stringify({
  ...{ tieout: "backup", format: 1, version: "0.1.0", createdAt: "2026-11-01T00:00:00Z" },
  ...{ migrations: [], sequences: [] },
})

/** JSON that takes some thirty times its length in memory once it is parsed. */
const zeros = `[0${",0".repeat(9 * 1024 * 1024)}]`

it.effect("a backup that is nested too deeply is refused before it is parsed", () =>
  Effect.gen(function* () {
    const file = join(temporaryFolder(), "hostile.gz")
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`
    writeFileSync(file, gzipSync(`${header.slice(0, -1)},"more":${deep}}\n`, { level: 1 }))
    expect(yield* Effect.flip(readBack(file))).toMatchObject({
      reason: "Damaged",
      message: expect.stringContaining("has a line that no backup has (it is nested deeper than 256 levels)"),
    })
  }),
)

it.effect.each([
  ["the header", `${header.slice(0, -1)},"more":${zeros}}\n`],
  ["a table's columns", `${header}\n{"table":"sync.runs","columns":${zeros}}\n`],
  ["rows of no table", `${header}\n${zeros}\n`],
  ["a table's end", `${header}\n{"table":"sync.runs","columns":[]}\n{"rows":${zeros}}\n`],
] as const)("a backup is refused unparsed that puts more than 16 MiB into %s", ([, text]) =>
  Effect.gen(function* () {
    const file = join(temporaryFolder(), "hostile.gz")
    writeFileSync(file, gzipSync(text, { level: 1 }))
    expect(yield* Effect.flip(readBack(file))).toMatchObject({
      reason: "Damaged",
      message: expect.stringContaining("has a line that is longer than any of a backup"),
    })
  }),
)
