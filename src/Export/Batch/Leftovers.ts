/**
 * Clears what a killed export left behind. A marker in the book's folder names the batches that are being written, a line each;
 * it is removed when they are committed or given up. The next export of the book removes the folders that the marker names, so
 * that a batch which never became part of the books does not look like one.
 */
import { rm, rmdir } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Either } from "effect"
import { makeFolder } from "../../Common/Folders.ts"
import { writeNewFile } from "../../Common/NewFile.ts"
import { isFormatFile } from "../../Format/Formats.ts"
import { exportError } from "../ExportError.ts"
import { previousBatches } from "../Request/Lineage.ts"
import { readFacts } from "../Source/BookFacts.ts"
import { attempt, quietly } from "./FileAttempt.ts"
import { listFolder, madeFolders, readIfThere, removeEmpty, removeFolder } from "./Folder.ts"
import { asideFile } from "./Kept/PutAside.ts"
import { decode } from "./Manifest/ManifestSeal.ts"
import { manifestFile } from "./Manifest.ts"

const markerFile = ".unfinished"

const plain = (name: string): string => name.replace(/\.partial$/, "")

const isOurs = (name: string): boolean =>
  plain(name) === manifestFile || name === asideFile || isFormatFile(plain(name))

/** Refuses a folder whose manifest belongs to another database, or that holds anything but an export's files. */
const checkOurs = Effect.fn("Export.checkOurs")(function* (path: string, knownSince: string) {
  const foreign = (yield* listFolder(path)).find((name) => !isOurs(name))
  if (foreign !== undefined) {
    return yield* exportError(
      "FolderTaken",
      `${path} holds ${foreign}, which is not an export's: move it away, or choose another folder with --out.`,
    )
  }
  const text = yield* readIfThere(join(path, manifestFile))
  const manifest = text === undefined ? undefined : Either.getOrUndefined(decode(text))
  if (text !== undefined && manifest?.book.knownSince !== knownSince) {
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
  const text = yield* readIfThere(marker)
  if (text === undefined) return
  const { knownSince } = yield* readFacts(bookId, null)
  const last = (yield* previousBatches([bookId])).get(bookId)?.batch ?? 0
  for (const line of text.split("\n")) {
    const [, scope, batch] = /^([A-Za-z0-9_@-]+)\/(\d+)$/.exec(line) ?? []
    if (scope === undefined || batch === undefined || Number(batch) <= last) continue
    const path = join(bookFolder, scope, batch)
    yield* checkOurs(path, knownSince)
    yield* removeFolder(path, yield* listFolder(path))
  }
  yield* attempt(marker, () => rm(marker, { force: true }))
})

/**
 * Marks batches as being written for as long as the scope lives. The mark is left for the next export if it is unknown whether
 * they were committed. Their folders, `2026-10/7` below the book's, must not exist yet.
 */
export const markUnfinished = Effect.fn("Export.markUnfinished")(function* (
  bookFolder: string,
  places: ReadonlyArray<string>,
) {
  for (const place of places) {
    const path = join(bookFolder, place)
    const found = yield* listFolder(path)
    if (found.length > 0) {
      return yield* exportError(
        "FolderTaken",
        `${path} holds a batch that this database does not know (${found[0]} …): move it away, or choose another folder with --out.`,
      )
    }
  }
  const marker = join(bookFolder, markerFile)
  let left = false
  const make = attempt(marker, async () => {
    const first = await makeFolder(bookFolder)
    // A file that somebody put there since it was cleared is not our marker.
    try {
      await writeNewFile(marker, places.map((place) => `${place}\n`).join(""))
    } catch (cause) {
      for (const folder of madeFolders(first, bookFolder)) await rmdir(folder).catch(() => undefined)
      throw cause
    }
    return first
  })
  const remove = (first: string | undefined) =>
    Effect.suspend(() => (left ? Effect.void : quietly(() => rm(marker, { force: true })))).pipe(
      Effect.andThen(removeEmpty(first, bookFolder)),
    )
  const first = yield* Effect.acquireRelease(make, remove)
  return {
    /** Whether the book's folder was made: its entry in the folder above is not durable yet. */
    isNew: first !== undefined,
    leave: Effect.sync(() => {
      left = true
    }),
  }
})
