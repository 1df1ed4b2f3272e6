import { createHash } from "node:crypto"
import { cpSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect } from "@effect/vitest"
import { Either } from "effect"
import * as ManifestSeal from "../../src/Export/Batch/Manifest/ManifestSeal.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"

/** A copy of a batch with one file changed, and the manifest's checksums made to fit. */
export const forge = (folder: string, name: string, change: (text: string) => string): string => {
  const copy = temporaryFolder()
  cpSync(folder, copy, { recursive: true })
  const text = readFileSync(join(copy, name), "latin1")
  const changed = Buffer.from(change(text), "latin1")
  expect(changed.toString("latin1")).not.toBe(text)
  writeFileSync(join(copy, name), changed)
  const manifest = Either.getOrThrow(ManifestSeal.decode(readFileSync(join(copy, "manifest.json"), "utf8")))
  const files = manifest.files.map((file) =>
    file.name === name
      ? { ...file, bytes: changed.length, sha256: createHash("sha256").update(changed).digest("hex") }
      : file,
  )
  writeFileSync(join(copy, "manifest.json"), ManifestSeal.print({ ...manifest, files }))
  return copy
}
