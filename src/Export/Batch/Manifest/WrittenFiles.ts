/** Every file of a batch against the manifest: there, of the stated size and content, and nothing beside them. */
import { readdir } from "node:fs/promises"
import type { Problems } from "../../../Common/Problems.ts"
import { manifestFile } from "../Manifest.ts"
import { type Content, checkFile, type FileVerdict, type Stated } from "./FileCheck.ts"

/** How the files' content is proved while they are read. */
export interface ContentChecks {
  readonly contentOf: (name: string) => Content | undefined
  /** A file that another thread checks meanwhile; undefined where it could not. */
  readonly elsewhere: (name: string) => Promise<FileVerdict | undefined> | undefined
}

const alone: ContentChecks = { contentOf: () => undefined, elsewhere: () => undefined }

/** Gives the names of the files that are there and were read, each once. */
export const checkFiles = async (
  folder: string,
  manifest: { readonly files: ReadonlyArray<Stated> },
  problems: Problems,
  { contentOf, elsewhere }: ContentChecks = alone,
): Promise<ReadonlySet<string>> => {
  const there = new Set(await readdir(folder))
  const expected = new Set(manifest.files.map(({ name }) => name))
  for (const name of there) {
    if (name !== manifestFile && !expected.has(name)) {
      problems.add(name, null, "is not in the manifest: it does not belong to this batch")
    }
  }
  const check = (file: Stated) => checkFile(folder, file, contentOf(file.name))
  const files = manifest.files.map((file) => ({
    file,
    isThere: there.has(file.name),
    checking: there.has(file.name) ? elsewhere(file.name) : undefined,
  }))
  const own = new Map<Stated, FileVerdict>()
  for (const { checking, file, isThere } of files) {
    if (isThere && checking === undefined) own.set(file, await check(file))
  }
  const readable = new Set<string>()
  for (const { checking, file, isThere } of files) {
    if (!isThere) {
      problems.add(file.name, null, "is missing")
      continue
    }
    const verdict = own.get(file) ?? (await checking) ?? (await check(file))
    problems.absorb(verdict.problems)
    if (verdict.isRead) readable.add(file.name)
  }
  return readable
}
