/**
 * Checks one written file against the size and content that its manifest states. Loads little, since other threads check files
 * too.
 */
import { join } from "node:path"
import { NotRegular, openRegular } from "../../../Common/Files/RegularFile.ts"
import { Problems } from "../../../Common/Problems.ts"
import { firstChange, type LineChecks, LineDigests } from "./LineChecks.ts"

/** Reads a file's content while its digest is computed; whatever it leaves unread is still read for the digest. */
export type Content = (chunks: AsyncIterable<Buffer>) => Promise<void>

/** What a manifest says of a file: a batch's, or a report's. */
export interface Stated {
  readonly name: string
  readonly bytes: number
  readonly sha256: string
  readonly lines?: LineChecks | undefined
}

/** Plain data, so that another thread can send it. */
export interface FileVerdict {
  /** Whether it is a regular file and was read. */
  readonly isRead: boolean
  readonly problems: Pick<Problems, "found" | "count" | "notes">
}

/** Bytes that are read at a time. */
const chunkSize = 1 << 20

/** Reads at most one byte more than the manifest states, so that reading ends even where the file keeps growing. */
const digestsOf = async (path: string, stated: number, lines: LineChecks | undefined, content?: Content) => {
  const digests = new LineDigests(lines)
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

/** The line at which a file first differs from what was written, or the first of the few lines that hold the difference. */
const placeOf = (stated: LineChecks, found: LineChecks) => {
  const [from, to] = firstChange(stated, found)
  return { line: from, among: from === to ? "" : ` between this line and line ${to}` }
}

export const checkFile = async (
  folder: string,
  { name, bytes, lines, sha256: digest }: Stated,
  content?: Content,
): Promise<FileVerdict> => {
  const problems = new Problems()
  const found = await digestsOf(join(folder, name), bytes, lines, content).catch((cause) => {
    if (cause instanceof NotRegular) return cause
    throw cause
  })
  if (found instanceof NotRegular) {
    problems.add(name, null, found.message)
    return { isRead: false, problems }
  }
  const { checks, sha256, size } = found
  if (size !== bytes) problems.add(name, null, `has ${size} bytes, the manifest says ${bytes}`)
  if (sha256 !== digest || size !== bytes) {
    const { among, line } = lines === undefined ? { among: "", line: null } : placeOf(lines, checks)
    problems.add(
      name,
      line,
      `its content has changed since it was written${among} (SHA-256 ${sha256}, not ${digest})`,
    )
  }
  return { isRead: true, problems }
}
