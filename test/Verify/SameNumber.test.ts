/** Two batches with one number, as where folders were kept that a restored database knows nothing of. */
import { cpSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Either, Option } from "effect"
import * as ManifestSeal from "../../src/Export/Batch/Manifest/ManifestSeal.ts"
import * as Export from "../../src/Export.ts"
import { runAll } from "../../src/Verify.ts"
import { openBook, postMonths } from "../Export/Books.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const problemsOf = (folder: string) =>
  Effect.map(runAll([folder], { chain: true }), (found) =>
    found.flatMap(({ folder: at, problems }) => problems.map(({ message }) => [at, message])),
  )

layer(TestDatabase.layer, { excludeTestServices: true })("a batch's number", (it) => {
  it.effect("is that of one batch of the book: another one with it is a problem, a copy is none", () =>
    Effect.gen(function* () {
      yield* postMonths(yield* openBook("ORG"))
      const out = temporaryFolder()
      const folders: Array<string> = []
      for (const format of ["trial-balance", "hledger"] as const) {
        const { batches } = yield* Export.run({
          formats: [format],
          scope: { kind: "period", period: "2026-10" },
          ...{ connection: Option.none(), book: Option.none(), out },
        })
        folders.push(...batches.map(({ folder }) => folder))
      }
      const [, last = ""] = folders
      const copy = join(out, "default-ORG", "kept", "2")
      cpSync(last, copy, { recursive: true })
      expect(yield* problemsOf(out)).toEqual([])
      const path = join(copy, "manifest.json")
      const {
        digest: _,
        lines: __,
        ...manifest
      } = Either.getOrThrow(ManifestSeal.decode(readFileSync(path, "utf8")))
      const write = (book: typeof manifest.book) =>
        writeFileSync(path, ManifestSeal.print({ ...manifest, book, createdAt: "2026-11-02T00:00:00.000Z" }))
      write(manifest.book)
      const another = (folder: string) =>
        `another batch 2 of the book stands in ${folder}: only one of the two is the book's`
      expect(yield* problemsOf(out)).toEqual([
        [last, another(copy)],
        [copy, another(last)],
      ])
      // Of another database that uses the same folder: a chain of its own, without its beginning.
      write({ ...manifest.book, knownSince: "2026-11-01T00:00:00.000Z" })
      expect(yield* problemsOf(out)).toEqual([
        [copy, "batch 1, which batch 2 follows, does not stand beside it"],
      ])
    }),
  )
})
