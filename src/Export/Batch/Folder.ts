/**
 * A batch's folder on disk. Every file is written as `<name>.partial`, made durable and renamed; the manifest is the last, so
 * that a folder with a manifest is whole. If anything fails or is interrupted, the written files are removed again.
 */

import { readdirSync } from "node:fs"
import { rename, rm, rmdir } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect, type Scope } from "effect"
import { codeOf } from "../../Common/ErrorCode.ts"
import { makeFolder } from "../../Common/Files/Folders.ts"
import { NewFile, syncFolder } from "../../Common/Files/NewFile.ts"
import { readManifestFile } from "../../Common/Files/RegularFile.ts"
import { type ExportError, exportError } from "../ExportError.ts"
import { attempt, quietly, steady } from "./FileAttempt.ts"
import { type FolderFile, openFile } from "./FolderFile.ts"
import type { PutAside, ReadBlock } from "./Kept/PutAside.ts"
import { manifestFile } from "./Manifest.ts"

/** How many books, folders or files are handled side by side: each mostly waits for the disk. */
export const filesAtOnce = 8

export interface Folder {
  readonly path: string
  readonly create: (name: string) => Effect.Effect<FolderFile, ExportError>
  /** The compressed blocks of a finished file that is not small; undefined where the folder puts none aside. */
  readonly blocks: (name: string) => ReadBlock | undefined
  /** Renames a file that is not published yet. */
  readonly rename: (from: string, to: string) => Effect.Effect<void, ExportError>
  /** Removes what is not published yet: a transaction may be run again after a conflict, and writes everything anew. */
  readonly clear: Effect.Effect<void>
  /** Gives all finished files their names. */
  readonly publish: (names: ReadonlyArray<string>) => Effect.Effect<void, ExportError>
  /** After this call the folder stays, whatever happens. */
  readonly keep: Effect.Effect<void>
}

/** The folders that `makeFolder` made, innermost first, so that a failed export leaves none behind. */
export const madeFolders = (first: string | undefined, path: string): ReadonlyArray<string> => {
  if (first === undefined) return []
  const folders: Array<string> = []
  for (let at = path; at.length >= first.length; at = dirname(at)) {
    folders.push(at)
    if (at === first) break
  }
  return folders
}

/** Removes the folders that `makeFolder` made on the way to `path`, as far as nothing is in them. */
export const removeEmpty = (first: string | undefined, path: string): Effect.Effect<void> =>
  Effect.forEach(madeFolders(first, path), (folder) => quietly(() => rmdir(folder)), { discard: true })

/** Whether what lies there is this export's: one that slept until its locks were gone is overtaken by the next. */
export type IsOwn = () => Promise<boolean>

/** Fails where another export has taken over. */
export const mustOwn = (path: string, isOwn: IsOwn): Effect.Effect<void, ExportError> =>
  Effect.flatMap(Effect.promise(isOwn), (own) =>
    own
      ? Effect.void
      : exportError(
          "Busy",
          `Another export took over ${path} while this one had lost its locks, or writes there from a copy of this database. Nothing of this one was kept: export again what is still to be exported.`,
        ),
  )

/** A folder that does not exist yet: how to make it, and how to remove what was written unless it is kept. */
const folderAt = (path: string, aside: PutAside | undefined, isOwn: IsOwn) => {
  let kept = false
  const blocks = new Map<string, ReadBlock>()
  const names = new Set<string>()
  const files: Array<NewFile> = []
  const folders: Array<string> = []
  const quiet = () => undefined
  const removeFiles = async (): Promise<void> => {
    for (const file of files.splice(0)) file.abandon()
    blocks.clear()
    if (names.size === 0 || !(await isOwn())) return
    for (const name of [...names].flatMap((each) => [each, `${each}.partial`])) {
      await rm(join(path, name), { force: true }).catch(quiet)
    }
    names.clear()
  }
  const cleanUp = Effect.promise(async () => {
    if (kept) return
    await removeFiles()
    if (folders.length === 0 || !(await isOwn())) return
    for (const each of folders) await rmdir(each).catch(quiet)
  })
  const owned = mustOwn(path, isOwn)
  const folder: Folder = {
    path,
    create: (name) =>
      Effect.zipRight(
        owned,
        steady(join(path, name), async () => {
          names.add(name)
          const file = await NewFile.create(join(path, `${name}.partial`))
          files.push(file)
          return openFile(join(path, name), name, file, aside?.file(path), (ended) => blocks.set(name, ended))
        }),
      ),
    blocks: (name) => blocks.get(name),
    rename: (from, to) =>
      steady(join(path, to), () => {
        names.add(to)
        const moved = blocks.get(from)
        if (moved !== undefined) blocks.set(to, moved)
        blocks.delete(from)
        return rename(join(path, `${from}.partial`), join(path, `${to}.partial`))
      }),
    clear: Effect.promise(removeFiles),
    publish: (finished) =>
      Effect.zipRight(
        owned,
        steady(path, async () => {
          for (const name of finished) await rename(join(path, `${name}.partial`), join(path, name))
          await syncFolder(path)
        }),
      ),
    keep: Effect.sync(() => {
      kept = true
    }),
  }
  const make = Effect.zipRight(
    owned,
    steady(path, async () => {
      folders.push(...madeFolders(await makeFolder(path), path))
      return folders
    }),
  )
  return { folder, make, cleanUp }
}

/** Makes folders' own entries durable, each once. */
export const syncFolders = (paths: Iterable<string>): Effect.Effect<void, ExportError> =>
  Effect.forEach(new Set(paths), (path) => steady(path, () => syncFolder(path)), { discard: true })

/**
 * Makes the folders of batches; each is emptied of our files and removed when the scope ends without `keep`. `aside`: where the blocks
 * of their files wait to be kept in the database. `isOwn`: where others may take over what lies there.
 */
export const openFolders = Effect.fn("Export.openFolders")(function* (
  paths: ReadonlyArray<string>,
  aside?: PutAside,
  isOwn: IsOwn = async () => true,
): Effect.fn.Return<ReadonlyArray<Folder>, ExportError, Scope.Scope> {
  const opened = paths.map((path) => folderAt(path, aside, isOwn))
  for (const { cleanUp } of opened) yield* Effect.addFinalizer(() => cleanUp)
  const folders = yield* Effect.forEach(opened, ({ make }) => make)
  // Parents too: a batch that is committed in the database must not vanish with its folder's entry.
  yield* syncFolders(folders.flat().map(dirname))
  return opened.map(({ folder }) => folder)
})

/** One folder. */
export const openFolder = (path: string): Effect.Effect<Folder, ExportError, Scope.Scope> =>
  Effect.flatMap(openFolders([path]), ([folder]) =>
    folder === undefined ? Effect.dieMessage(`${path} was not made`) : Effect.succeed(folder),
  )

/** Names in a folder, or none where there is no such folder. */
export const listFolder = (path: string): Effect.Effect<ReadonlyArray<string>, ExportError> =>
  attempt(path, async () => {
    try {
      return readdirSync(path)
    } catch (cause) {
      if (codeOf(cause) === "ENOENT") return []
      throw cause
    }
  })

/** The text of a marker or a manifest; undefined if there is none. */
export const readIfThere = (path: string): Effect.Effect<string | undefined, ExportError> =>
  attempt(path, () =>
    readManifestFile(path).then(
      (bytes) => bytes.toString("utf8"),
      (cause) => (codeOf(cause) === "ENOENT" ? undefined : Promise.reject(cause)),
    ),
  )

/**
 * Removes files of ours and then their folder, which need not be there: who was killed may not have made it yet. The manifest goes
 * last: what somebody who is killed here leaves still says whose it is.
 */
export const removeFolder = (path: string, names: ReadonlyArray<string>): Effect.Effect<void, ExportError> =>
  attempt(path, async () => {
    const inOrder = names.toSorted((a, b) => Number(a === manifestFile) - Number(b === manifestFile))
    for (const name of inOrder) await rm(join(path, name), { force: true })
    await rmdir(path).catch((cause) => (codeOf(cause) === "ENOENT" ? undefined : Promise.reject(cause)))
    // Removes the scope's folder, too, if it is empty now.
    await rmdir(dirname(path)).catch(() => undefined)
  })
