/** Every file of a batch against the manifest: there, of the stated size and content, and nothing beside them. */
import { createReadStream } from "node:fs"
import { readdir, stat } from "node:fs/promises"
import { join } from "node:path"
import { firstChange, type LineChecks, LineDigests } from "../Export/LineChecks.ts"
import { type FileRecord, manifestFile } from "../Export/Manifest.ts"
import type { Problems } from "./Problems.ts"

const digestsOf = async (path: string, every: number | undefined) => {
  const digests = new LineDigests(every)
  for await (const chunk of createReadStream(path)) if (Buffer.isBuffer(chunk)) digests.add(chunk)
  return { checks: digests.checks(), sha256: digests.sha256() }
}

/** The line where a file first differs from what was written, or the first of the few among which it is. */
const placeOf = (stated: LineChecks, found: LineChecks) => {
  const [from, to] = firstChange(stated, found)
  return { line: from, among: from === to ? "" : ` between this line and line ${to}` }
}

/** What a manifest says of a file: a batch's, or a report's. */
type Stated = Pick<FileRecord, "name" | "bytes" | "lines" | "sha256">

const checkFile = async (
  folder: string,
  { name, bytes, lines, sha256: digest }: Stated,
  problems: Problems,
) => {
  const path = join(folder, name)
  const { size } = await stat(path)
  if (size !== bytes) problems.add(name, null, `has ${size} bytes, the manifest says ${bytes}`)
  const { checks, sha256 } = await digestsOf(path, lines?.every)
  if (sha256 === digest) return
  const { among, line } = lines === undefined ? { among: "", line: null } : placeOf(lines, checks)
  problems.add(
    name,
    line,
    `its content has changed since it was written${among} (SHA-256 ${sha256}, not ${digest})`,
  )
}

/** The names of the files that are there and can be read further. */
export const checkFiles = async (
  folder: string,
  manifest: { readonly files: ReadonlyArray<Stated> },
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
