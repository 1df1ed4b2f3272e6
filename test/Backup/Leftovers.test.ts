/** What a killed backup leaves beside its file, and names that lead to no backup. */
import { execFileSync } from "node:child_process"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { hostname } from "node:os"
import { dirname, join } from "node:path"
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
      writeFileSync(`${file}.partial`, "half")
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

  it.scoped("refuses where something else stands in the place of its unfinished file", () =>
    Effect.gen(function* () {
      const file = join(temporaryFolder(), "tieout.gz")
      mkdirSync(`${file}.partial`)
      expect(yield* refusal(backup(file))).toEqual({
        code: 2,
        message: `${file}.partial is no file of a backup: move it away, or name another file.`,
      })
    }),
  )
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
