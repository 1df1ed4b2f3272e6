/** A book's batches as a chain: whoever looks at one of them hears of a break anywhere between those that stand beside it. */
import { cpSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Either, Option } from "effect"
import * as ManifestSeal from "../../src/Export/Batch/Manifest/ManifestSeal.ts"
import type { Manifest } from "../../src/Export/Batch/Manifest.ts"
import * as Export from "../../src/Export.ts"
import * as Verify from "../../src/Verify.ts"
import { openBook, postMonths } from "../Export/Books.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

/** More than nine, so that the order of the numbers is not that of their texts. */
const count = 12

/** What stands for a byte that is no UTF-8. */
const replacement = "\ufffd"

const manifestIn = (folder: string): string => join(folder, "manifest.json")

const unsealed = (folder: string): Manifest => {
  const {
    digest: _,
    lines: __,
    ...manifest
  } = Either.getOrThrow(ManifestSeal.decode(readFileSync(manifestIn(folder), "utf8")))
  return manifest
}

const write = (folder: string, manifest: Manifest): string => {
  const text = ManifestSeal.print(manifest)
  writeFileSync(manifestIn(folder), text)
  return ManifestSeal.sha256Of(text)
}

/** The same batch again and again, each with a number of its own and the hash of the one before. */
const chained = Effect.fnUntraced(function* (code: string, clientId: string) {
  yield* postMonths(yield* openBook(code, clientId))
  const out = temporaryFolder()
  const { batches } = yield* Export.run({
    formats: ["trial-balance"],
    scope: { kind: "period", period: "2026-10" },
    ...{ connection: Option.none(), book: Option.some(code), out },
  })
  const first = batches[0]?.folder ?? expect.fail("no batch")
  const made = unsealed(first)
  const { lineage } = made
  if (lineage === undefined) return expect.fail("no lineage")
  const book = { ...made.book, name: `Caf${replacement}` }
  const folders: Array<string> = []
  let previous: NonNullable<Manifest["lineage"]>["previous"] = null
  for (let batch = 1; batch <= count; batch += 1) {
    const folder = join(dirname(first), String(batch))
    if (batch > 1) cpSync(first, folder, { recursive: true })
    const manifestSha256 = write(folder, { ...made, book, batch, lineage: { ...lineage, previous } })
    previous = { batch, manifestSha256 }
    folders.push(folder)
  }
  return { out, folderOf: (batch: number) => folders[batch - 1] ?? expect.fail(`no batch ${batch}`) }
})

const problemsOf = (folder: string, chain = true) =>
  Effect.map(Verify.run(folder, { chain }), ({ problems }) => problems.map(({ message }) => message))

layer(TestDatabase.layer, { excludeTestServices: true })("a chain of batches", (it) => {
  it.effect("is followed from each of them to both ends", () =>
    Effect.gen(function* () {
      const { folderOf, out } = yield* chained("ONE", "33333333-0000-4000-8000-000000000071")
      const all = yield* Verify.runAll([out], { chain: true })
      expect(all.map(({ ok }) => ok)).toEqual(Array.from({ length: count }, () => true))
      const fifth = readFileSync(manifestIn(folderOf(5)))
      const ends = [1, 3, 8, count]

      // Written anew, as by another database or by hand: its digest is its own.
      write(folderOf(5), { ...unsealed(folderOf(5)), createdAt: "2026-11-02T00:00:00.000Z" })
      const broken = /^batch 6 does not follow the batch 5 beside it: /
      for (const batch of ends) {
        expect([batch, yield* problemsOf(folderOf(batch))]).toEqual([batch, [expect.stringMatching(broken)]])
      }
      expect(yield* problemsOf(folderOf(5))).toEqual([
        expect.stringMatching(/^the next batch differs: batch 6 does not follow the batch 5 beside it: /),
      ])

      // Changed, with the digest of before; and a byte that is no UTF-8, which reads as the text that was written.
      const at = fifth.indexOf(replacement)
      const changed = [
        Buffer.from(fifth.toString().replace('"entries": ', '"entries":  ')),
        Buffer.concat([fifth.subarray(0, at), Buffer.from([0xff]), fifth.subarray(at + 3)]),
      ]
      for (const bytes of changed) {
        writeFileSync(manifestIn(folderOf(5)), bytes)
        for (const batch of ends) {
          expect([batch, yield* problemsOf(folderOf(batch))]).toEqual([
            batch,
            ["batch 6 the manifest of batch 5 beside it has changed since it was written"],
          ])
        }
      }
      writeFileSync(manifestIn(folderOf(5)), fifth)

      // Gone: a problem where the whole chain is asked for, else worth knowing.
      renameSync(folderOf(5), join(out, "away"))
      const gone = "batch 5, which batch 6 follows, does not stand beside it"
      for (const batch of ends) {
        expect([batch, yield* problemsOf(folderOf(batch))]).toEqual([batch, [gone]])
        const { ok, notes } = yield* Verify.run(folderOf(batch))
        const side = batch < 5 ? "end" : "beginning"
        expect([ok, notes]).toEqual([
          true,
          [`The chain of batches was not followed to its ${side}: ${gone}.`],
        ])
      }
      renameSync(join(out, "away"), folderOf(5))
    }),
  )

  it.effect(
    "is that of the folders, not of what is behind a link, and each batch says what came before",
    () =>
      Effect.gen(function* () {
        const { folderOf, out } = yield* chained("TWO", "33333333-0000-4000-8000-000000000072")
        const away = join(out, "away")
        renameSync(folderOf(count), away)
        symlinkSync(away, folderOf(count))
        const eleventh = unsealed(folderOf(11))
        write(folderOf(11), { ...eleventh, createdAt: "2026-11-02T00:00:00.000Z" })
        expect(yield* problemsOf(folderOf(11))).toEqual([])
        rmSync(folderOf(count))
        const { lineage: _, ...without } = eleventh
        write(folderOf(11), without)
        expect(yield* problemsOf(folderOf(11))).toEqual(["does not say which batch came before it"])
      }),
  )
})
