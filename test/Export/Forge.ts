import { createHash } from "node:crypto"
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect } from "@effect/vitest"
import { Effect, Either, Option } from "effect"
import * as ManifestSeal from "../../src/Export/Batch/Manifest/ManifestSeal.ts"
import type { Manifest } from "../../src/Export/Batch/Manifest.ts"
import * as Export from "../../src/Export.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { openBook, postMonths } from "./Books.ts"
import { formatSettings } from "./Exporting.ts"

/** The folder of a batch of October in these formats, whose book has entries of September as well. */
export const toForge = Effect.fn("Test.toForge")(function* (formats: ReadonlyArray<string>) {
  yield* postMonths(yield* openBook("FORGED"))
  const { batches } = yield* Export.run({
    formats,
    scope: { kind: "period", period: "2026-10" },
    connection: Option.none(),
    book: Option.some("FORGED"),
    out: temporaryFolder(),
    tables: { settings: formatSettings, baseCurrency: "USD" },
  })
  return batches[0]?.folder ?? ""
})

const sealed = (folder: string, change: (manifest: Manifest) => Manifest): void => {
  const path = join(folder, "manifest.json")
  const {
    digest: _,
    lines: __,
    ...manifest
  } = Either.getOrThrow(ManifestSeal.decode(readFileSync(path, "utf8")))
  writeFileSync(path, ManifestSeal.print(change(manifest)))
}

/** A copy of a batch whose manifest says something else, or names no longer all files: those are gone. */
export const forgeManifest = (folder: string, change: (manifest: Manifest) => Manifest): string => {
  const copy = temporaryFolder()
  cpSync(folder, copy, { recursive: true })
  sealed(copy, (manifest) => {
    const changed = change(manifest)
    const kept = new Set(changed.files.map(({ name }) => name))
    for (const { name } of manifest.files) if (!kept.has(name)) rmSync(join(copy, name))
    return changed
  })
  return copy
}

/** A copy of a batch with one file changed, and the manifest's checksums made to fit. */
export const forge = (folder: string, name: string, change: (text: string) => string): string => {
  const copy = temporaryFolder()
  cpSync(folder, copy, { recursive: true })
  const text = readFileSync(join(copy, name), "latin1")
  const changed = Buffer.from(change(text), "latin1")
  expect(changed.toString("latin1")).not.toBe(text)
  writeFileSync(join(copy, name), changed)
  sealed(copy, (manifest) => ({
    ...manifest,
    files: manifest.files.map((file) =>
      file.name === name
        ? { ...file, bytes: changed.length, sha256: createHash("sha256").update(changed).digest("hex") }
        : file,
    ),
  }))
  return copy
}
