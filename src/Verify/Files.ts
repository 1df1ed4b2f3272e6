/** Every file of a batch against the manifest: there, of the stated size and content, and nothing beside them. */
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { readdir, stat } from "node:fs/promises"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { type FileRecord, type Manifest, manifestFile } from "../Export/Manifest.ts"
import type { Problems } from "./Problems.ts"

const sha256 = async (path: string): Promise<string> => {
  const hash = createHash("sha256")
  await pipeline(createReadStream(path), hash)
  return hash.digest("hex")
}

const checkFile = async (folder: string, { name, bytes, sha256: digest }: FileRecord, problems: Problems) => {
  const path = join(folder, name)
  const { size } = await stat(path)
  if (size !== bytes) problems.add(name, null, `has ${size} bytes, the manifest says ${bytes}`)
  const found = await sha256(path)
  if (found !== digest) {
    problems.add(name, null, `its content has changed since it was written (SHA-256 ${found}, not ${digest})`)
  }
}

/** The names of the files that are there and can be read further. */
export const checkFiles = async (
  folder: string,
  manifest: Manifest,
  problems: Problems,
): Promise<ReadonlySet<string>> => {
  const there = new Set(await readdir(folder))
  const expected = new Set(manifest.files.map(({ name }) => name))
  for (const name of there) {
    if (name !== manifestFile && !expected.has(name)) {
      problems.add(name, null, "is not in the manifest: it does not belong to this batch")
    }
  }
  for (const file of manifest.files) {
    if (there.has(file.name)) await checkFile(folder, file, problems)
    else problems.add(file.name, null, "is missing")
  }
  return new Set([...expected].filter((name) => there.has(name)))
}
