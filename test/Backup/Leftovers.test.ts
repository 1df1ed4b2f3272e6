/** What a killed backup leaves beside its file, and names that lead to no backup. */
import { execFileSync } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { hostname } from "node:os"
import { dirname, join } from "node:path"
import { gzipSync } from "node:zlib"
import { expect, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { readBack } from "../../src/Backup/ReadBack.ts"
import { backup } from "../../src/Backup.ts"
import { failureOf } from "../../src/Cli/Failure.ts"
import { Database } from "../../src/Database.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const refusal = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), failureOf).pipe(Effect.map(({ code, message }) => ({ code, message })))

layer(TestDatabase.layer, { excludeTestServices: true })("a backup", (it) => {
  it.scoped("writes over what a killed one of that name left, but not beside one that is being written", () =>
    Effect.gen(function* () {
      const file = join(temporaryFolder(), "tieout.gz")
      // As one leaves it that was killed later: cut off somewhere, with more than its first line.
      const before = join(temporaryFolder(), "before.gz")
      yield* backup(before)
      writeFileSync(`${file}.partial`, readFileSync(before).subarray(0, -100))
      const database = yield* Database
      expect(yield* refusal(database.withSessionLock(`backup ${hostname()} ${file}`, backup(file)))).toEqual({
        code: 4,
        message: `Another backup is writing ${file}: wait for it, or name another file.`,
      })
      expect(readdirSync(dirname(file))).toEqual(["tieout.gz.partial"])

      const { sha256 } = yield* backup(file)
      expect(readdirSync(dirname(file))).toEqual(["tieout.gz"])
      expect((yield* readBack(file)).content.sha256).toBe(sha256)
    }),
  )

  it.scoped("refuses a folder that is not there", () =>
    Effect.gen(function* () {
      const folder = join(temporaryFolder(), "none")
      expect(yield* refusal(backup(join(folder, "tieout.gz")))).toEqual({
        code: 2,
        message: `There is no folder ${folder}: make it, or name another file.`,
      })
    }),
  )

  for (const [what, put] of [
    ["a folder", (path: string) => mkdirSync(path)],
    ["a text", (path: string) => writeFileSync(path, "half of a letter")],
    ["another download", (path: string) => writeFileSync(path, gzipSync("a film").subarray(0, -4))],
    ["a link", (path: string) => symlinkSync("/etc/hostname", path)],
  ] as const) {
    it.scoped(`leaves alone what is not its own where its unfinished file would be: ${what}`, () =>
      Effect.gen(function* () {
        const file = join(temporaryFolder(), "tieout.gz")
        put(`${file}.partial`)
        expect(yield* refusal(backup(file))).toEqual({
          code: 2,
          message: `${file}.partial is no file of a backup: move it away, or name another file.`,
        })
        expect(readdirSync(dirname(file))).toEqual(["tieout.gz.partial"])
      }),
    )
  }

  for (const bytes of [0, 10, 30]) {
    it.scoped(`begins anew where a killed one wrote ${bytes} bytes`, () =>
      Effect.gen(function* () {
        const file = join(temporaryFolder(), "tieout.gz")
        writeFileSync(`${file}.partial`, gzipSync('{"tieout":"backup","format":1}').subarray(0, bytes))
        yield* backup(file)
        expect(readdirSync(dirname(file))).toEqual(["tieout.gz"])
      }),
    )
  }
})

it.effect("a restore of a pipe, a folder or nothing at all is refused as not possible", () =>
  Effect.gen(function* () {
    const folder = temporaryFolder()
    const pipe = join(folder, "pipe")
    execFileSync("mkfifo", [pipe])
    const what = "Name a file that tieout backup wrote."
    expect(yield* refusal(readBack(pipe))).toEqual({
      code: 2,
      message: `${pipe}: is no regular file, and was not opened. ${what}`,
    })
    expect(yield* refusal(readBack(folder))).toEqual({
      code: 2,
      message: `${folder}: is a folder, and was not opened. ${what}`,
    })
    expect(yield* refusal(readBack(join(pipe, "in")))).toEqual({
      code: 2,
      message: `${join(pipe, "in")}: there is no such file. ${what}`,
    })
  }),
)
