/**
 * Clears what a killed export left behind. A marker in the book's folder says whose it is (`of`, and since when its database has known
 * the book; `by`, and an identifier of the export's own) and names the batches that are being written, a line each; it is removed when they are committed or given up. The next
 * export of the book removes the folders that the marker names, so that a batch which never became part of the books does not look like
 * one. No lock tells whether another database's export still runs: its marker and folders are left alone. An export that slept until
 * its locks were gone, or whose database has a copy, may find the marker of the next one in place of its own: it is overtaken, and
 * touches nothing any more.
 */
import { randomUUID } from "node:crypto"
import { rm, rmdir } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Either } from "effect"
import { isIn, ofBook } from "../../Book/ByBook.ts"
import { makeFolder } from "../../Common/Files/Folders.ts"
import { writeNewFile } from "../../Common/Files/NewFile.ts"
import { readManifestFile } from "../../Common/Files/RegularFile.ts"
import { count } from "../../Common/Text.ts"
import { int4, text } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import { isFormatFile } from "../../Format/Formats.ts"
import { exportError } from "../ExportError.ts"
import { previousBatches } from "../Request/Lineage.ts"
import { attempt, quietly } from "./FileAttempt.ts"
import { filesAtOnce, listFolder, madeFolders, readIfThere, removeEmpty, removeFolder } from "./Folder.ts"
import { asideFile } from "./Kept/PutAside.ts"
import { decode } from "./Manifest/ManifestSeal.ts"
import { manifestFile } from "./Manifest.ts"

const markerFile = ".unfinished"

const plain = (name: string): string => name.replace(/\.partial$/, "")

const isOurs = (name: string): boolean =>
  plain(name) === manifestFile || name === asideFile || isFormatFile(plain(name))

/** Since when the database has known the books, to the microsecond: only a database and what its backups became say the same. */
export const knownSinceOf = Effect.fn("Export.knownSince")(function* (bookIds: ReadonlyArray<number>) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Export.knownSince",
    { bookId: int4, knownSince: text },
    (sql) => sql`
      select b.book_id as "bookId", to_char(b.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "knownSince"
      from mirror.books b where b.book_id ${isIn(sql, bookIds)}`,
  )
  return new Map(rows.map(({ bookId, knownSince }) => [bookId, knownSince]))
})

/** Refuses a folder whose manifest belongs to another database, or that holds anything but an export's files. */
const checkOurs = Effect.fn("Export.checkOurs")(function* (path: string, knownSince: string) {
  const foreign = (yield* listFolder(path)).find((name) => !isOurs(name))
  if (foreign !== undefined) {
    return yield* exportError(
      "FolderTaken",
      `${path} holds ${foreign}, which is not an export's: move it away, or choose another folder with --out.`,
    )
  }
  const found = yield* readIfThere(join(path, manifestFile))
  const manifest = found === undefined ? undefined : Either.getOrUndefined(decode(found))
  if (found !== undefined && manifest?.book.knownSince !== knownSince) {
    return yield* exportError(
      "FolderTaken",
      `${path} holds a batch of another database: move it away, or choose another folder with --out.`,
    )
  }
})

/** Clears what an unfinished export left in the book's folder. */
export const clearLeftovers = Effect.fn("Export.clearLeftovers")(function* (
  bookFolder: string,
  bookId: number,
) {
  const marker = join(bookFolder, markerFile)
  const mark = yield* readIfThere(marker)
  if (mark === undefined) return
  const knownSince = ofBook(yield* knownSinceOf([bookId]), bookId)
  const [, origin = knownSince] = /^of (.+)$/m.exec(mark) ?? []
  if (origin !== knownSince) {
    return yield* exportError(
      "FolderTaken",
      `Another database's export writes into ${bookFolder}, or was interrupted there (${markerFile}): choose another folder with --out, or remove that file where it has ended.`,
    )
  }
  const last = (yield* previousBatches([bookId])).get(bookId)?.batch ?? 0
  for (const line of mark.split("\n")) {
    const [, scope, batch] = /^([A-Za-z0-9_@-]+)\/(\d+)$/.exec(line) ?? []
    if (scope === undefined || batch === undefined || Number(batch) <= last) continue
    const path = join(bookFolder, scope, batch)
    yield* checkOurs(path, knownSince)
    yield* removeFolder(path, yield* listFolder(path))
  }
  yield* attempt(marker, () => rm(marker, { force: true }))
})

/** Folders that a message names. */
const mostTaken = 50

/**
 * Fails where a folder that is to be written is there already, with all of them: where the database lost batches, in a failover or
 * with an older backup, every book may have some.
 */
export const refuseTaken = Effect.fn("Export.refuseTaken")(function* (paths: ReadonlyArray<string>) {
  const listed = yield* Effect.forEach(
    paths,
    (path) => Effect.map(listFolder(path), ([first]) => (first === undefined ? [] : [{ path, first }])),
    { concurrency: filesAtOnce },
  )
  const [one, ...more] = listed.flat()
  if (one === undefined) return
  if (more.length === 0) {
    return yield* exportError(
      "FolderTaken",
      `${one.path} holds a batch that this database does not know (${one.first} …): move it away, or choose another folder with --out.`,
    )
  }
  const taken = [one, ...more]
  return yield* exportError(
    "FolderTaken",
    [
      "These folders hold batches that this database does not know; move them away, or choose another folder with --out:",
      ...taken.slice(0, mostTaken).map(({ path }) => `  ${path}`),
      ...(taken.length > mostTaken ? [`  … and ${count(taken.length - mostTaken)} more`] : []),
    ].join("\n"),
  )
})

/**
 * Marks batches as being written for as long as the scope lives. The mark is left for the next export if it is unknown whether
 * they were committed. Their folders, `2026-10/7` below the book's, must not exist yet (`refuseTaken`).
 */
export const markUnfinished = Effect.fn("Export.markUnfinished")(function* (
  bookFolder: string,
  places: ReadonlyArray<string>,
  knownSince: string,
) {
  const marker = join(bookFolder, markerFile)
  const content = [`of ${knownSince}`, `by ${randomUUID()}`, ...places, ""].join("\n")
  const isOwn = () =>
    readManifestFile(marker).then(
      (bytes) => bytes.toString("utf8") === content,
      () => false,
    )
  let left = false
  const make = attempt(marker, async () => {
    const first = await makeFolder(bookFolder)
    // A file that somebody put there since it was cleared is not our marker.
    try {
      await writeNewFile(marker, content)
    } catch (cause) {
      for (const folder of madeFolders(first, bookFolder)) await rmdir(folder).catch(() => undefined)
      throw cause
    }
    return first
  })
  const remove = (first: string | undefined) =>
    quietly(async () => {
      if (!left && (await isOwn())) await rm(marker, { force: true })
    }).pipe(Effect.andThen(removeEmpty(first, bookFolder)))
  const first = yield* Effect.acquireRelease(make, remove)
  return {
    /** Whether the book's folder was made: its entry in the folder above is not durable yet. */
    isNew: first !== undefined,
    /** Whether no other export has taken over the folder. */
    isOwn,
    leave: Effect.sync(() => {
      left = true
    }),
  }
})
