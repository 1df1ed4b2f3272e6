/** What a failed file operation of an export or a report means. */
import { mkdir, open, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { attempt } from "../../../src/Export/Batch/FileAttempt.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

it.effect("a file in the way of a folder is a place that is taken", () =>
  Effect.gen(function* () {
    const file = join(temporaryFolder(), "default-ORG")
    yield* Effect.promise(() => writeFile(file, "not a folder"))
    const works: ReadonlyArray<() => Promise<unknown>> = [
      () => mkdir(join(file, "2026-10")),
      () => mkdir(file),
      () => open(file, "wx"),
    ]
    for (const work of works) {
      expect(yield* Effect.flip(attempt(file, work))).toMatchObject({
        reason: "FolderTaken",
        message: expect.stringContaining("a file stands in its way"),
      })
    }
    const below = yield* Effect.flip(attempt(file, () => mkdir(join(`${file}-missing`, "2026-10"))))
    expect(below.reason).toBe("Folder")
  }),
)
