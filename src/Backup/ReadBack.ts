/** Reads a backup's file to its end and checks it, writing nothing: nothing in it counts before the end has been read. */

import { Effect, Stream } from "effect"
import { codeOf } from "../Common/ErrorCode.ts"
import { NotRegular, whyUnread } from "../Common/Files/RegularFile.ts"
import type { RowDigest } from "./ArchiveHeader.ts"
import { BackupError, backupError } from "./BackupError.ts"
import { type Content, type Header, type Part, partsOf } from "./BackupFile.ts"
import { LineSums } from "./RowDigests.ts"

/** That the name leads to no file, or to none that this user may read. */
const unnamed = ["ENOENT", "ENOTDIR", "EACCES", "EPERM", "ENAMETOOLONG"]

const readError = (path: string) => (cause: unknown) => {
  if (cause instanceof BackupError) return cause
  const code = codeOf(cause) ?? ""
  if (code === "ENOENT") return backupError("Usage", `There is no file ${path}.`)
  if (cause instanceof NotRegular || unnamed.includes(code)) {
    return backupError("Usage", `${path}: ${whyUnread(cause)}. Name a file that tieout backup wrote.`)
  }
  const why = `${path} cannot be read as a backup: ${cause instanceof Error ? cause.message : String(cause)}.`
  return code.startsWith("Z_")
    ? backupError("Damaged", `${why} It is cut off, or damaged: use another one.`)
    : backupError("File", why)
}

export const parts = (path: string): Stream.Stream<Part, BackupError> =>
  Stream.suspend(() => Stream.fromAsyncIterable(partsOf(path), readError(path)))

export interface CheckedBackup {
  readonly header: Header
  readonly content: Content
  readonly digests: ReadonlyArray<RowDigest>
}

/** What a complete file states about itself, and the digests of its rows for the tables that `digesting` names. */
export const readBack = Effect.fn("Backup.check")(function* (
  path: string,
  digesting: (header: Header) => ReadonlyArray<string> = () => [],
) {
  let header: Header | undefined
  let content: Content | undefined
  let sums: LineSums | undefined
  let wanted: ReadonlyArray<string> = []
  const digests: Array<RowDigest> = []
  const finished = new Map<string, LineSums>()
  yield* Stream.runForEach(parts(path), (part) =>
    Effect.sync(() => {
      if (part.kind === "header") {
        header = part.header
        wanted = digesting(part.header)
      }
      if (part.kind === "table") {
        sums = wanted.includes(part.table) ? new LineSums() : undefined
        if (sums !== undefined) finished.set(part.table, sums)
      }
      if (part.kind === "rows" && sums !== undefined) for (const line of part.rows) sums.add(line)
      if (part.kind === "end") content = part.content
    }),
  )
  if (header === undefined || content === undefined)
    return yield* backupError("Damaged", `${path} is no backup.`)
  for (const [table, found] of finished) digests.push(found.of(table))
  return { header, content, digests } satisfies CheckedBackup
})
