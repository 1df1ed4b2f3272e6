/** Every file of a batch against the manifest: there, of the stated size and content, and nothing beside them. */
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import type { Problems } from "../../Common/Problems.ts"
import { NotRegular, openRegular } from "../../Common/RegularFile.ts"
import { firstChange, type LineChecks, LineDigests } from "./LineChecks.ts"
import { type FileRecord, manifestFile } from "./Manifest.ts"

/** Reads a file's content while its digest is made; what it leaves unread is read for the digest all the same. */
export type Content = (chunks: AsyncIterable<Buffer>) => Promise<void>

/** Bytes that are read at a time. */
const chunkSize = 1 << 20

/** Of as many bytes as are stated and one more: a file that grows while it is read ends all the same. */
const digestsOf = async (path: string, stated: number, every: number | undefined, content?: Content) => {
  const digests = new LineDigests(every)
  const handle = await openRegular(path)
  const { size } = await handle.stat()
  const source: AsyncIterator<unknown> = handle
    .createReadStream({ end: stated, highWaterMark: chunkSize })
    [Symbol.asyncIterator]()
  const next = async (): Promise<IteratorResult<Buffer, undefined>> => {
    const { done, value } = await source.next()
    if (done === true || !Buffer.isBuffer(value)) return { done: true, value: undefined }
    digests.add(value)
    return { done: false, value }
  }
  // Without `return`: a reader that stops does not close the file.
  const chunks: AsyncIterable<Buffer> = { [Symbol.asyncIterator]: () => ({ next }) }
  try {
    await content?.(chunks)
    while ((await next()).done !== true);
  } finally {
    await source.return?.()
  }
  return { size, checks: digests.checks(), sha256: digests.sha256() }
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
  content: Content | undefined,
): Promise<boolean> => {
  const path = join(folder, name)
  const found = await digestsOf(path, bytes, lines?.every, content).catch((cause) => {
    if (cause instanceof NotRegular) return cause
    throw cause
  })
  if (found instanceof NotRegular) {
    problems.add(name, null, found.message)
    return false
  }
  const { checks, sha256, size } = found
  if (size !== bytes) problems.add(name, null, `has ${size} bytes, the manifest says ${bytes}`)
  if (sha256 === digest && size === bytes) return true
  const { among, line } = lines === undefined ? { among: "", line: null } : placeOf(lines, checks)
  problems.add(
    name,
    line,
    `its content has changed since it was written${among} (SHA-256 ${sha256}, not ${digest})`,
  )
  return true
}

/** Gives the names of the files that are there and were read, each once, by `contentOf` as well where it wants to. */
export const checkFiles = async (
  folder: string,
  manifest: { readonly files: ReadonlyArray<Stated> },
  problems: Problems,
  contentOf: (name: string) => Content | undefined = () => undefined,
): Promise<ReadonlySet<string>> => {
  const there = new Set(await readdir(folder))
  const expected = new Set(manifest.files.map(({ name }) => name))
  for (const name of there) {
    if (name !== manifestFile && !expected.has(name)) {
      problems.add(name, null, "is not in the manifest: it does not belong to this batch")
    }
  }
  const readable = new Set<string>()
  for (const file of manifest.files) {
    if (!there.has(file.name)) problems.add(file.name, null, "is missing")
    else if (await checkFile(folder, file, problems, contentOf(file.name))) readable.add(file.name)
  }
  return readable
}
