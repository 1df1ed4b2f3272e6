/** Writes a batch's files once more, byte for byte: from the database, or else from its folder where that is unchanged. */
import { createHash } from "node:crypto"
import { rm } from "node:fs/promises"
import { hostname } from "node:os"
import { join, resolve } from "node:path"
import { Effect, type Scope } from "effect"
import { firstOf } from "../../../Common/Effects/FirstOf.ts"
import { chunksOf, openRegular } from "../../../Common/Files/RegularFile.ts"
import type { DatabaseError } from "../../../Database/DatabaseError.ts"
import { Database } from "../../../Database.ts"
import { encode } from "../../../Format/Encoding.ts"
import { type ExportError, exportError } from "../../ExportError.ts"
import { attempt, quietly } from "../FileAttempt.ts"
import { type Folder, listFolder, openFolder } from "../Folder.ts"
import { sha256Of } from "../Manifest/ManifestSeal.ts"
import { type FileRecord, manifestFile } from "../Manifest.ts"
import { folderProblems } from "./AsWritten.ts"
import { blockSize } from "./Compression.ts"
import { areKept, keptBlock } from "./KeptFiles.ts"
import { type KnownBatch, nameOf } from "./KnownBatch.ts"

/** Gives the blocks of a file, counted from 1; undefined after the last. */
type Source = (
  name: string,
) => Effect.Effect<
  (chunk: number) => Effect.Effect<Buffer | undefined, ExportError | DatabaseError, Database>,
  ExportError,
  Scope.Scope
>

const fromDatabase =
  ({ batch, book }: KnownBatch): Source =>
  (name) =>
    Effect.succeed((chunk) => keptBlock(book.bookId, batch, name, chunk))

const fromFolder =
  (folder: string): Source =>
  (name) => {
    const path = join(folder, name)
    return Effect.acquireRelease(
      attempt(path, () => openRegular(path)),
      (handle) => quietly(() => handle.close()),
    ).pipe(
      Effect.map(
        (handle) => (chunk: number) =>
          attempt(path, async () => {
            const block = Buffer.allocUnsafe(blockSize)
            const { bytesRead } = await handle.read(block, 0, blockSize, (chunk - 1) * blockSize)
            return bytesRead === 0 ? undefined : block.subarray(0, bytesRead)
          }),
      ),
    )
  }

const writeFile = Effect.fn("Export.download.file")(function* (
  folder: Folder,
  { name, sha256 }: FileRecord,
  source: Source,
) {
  const next = yield* source(name)
  const file = yield* folder.create(name)
  for (let chunk = 1; ; chunk++) {
    const block = yield* next(chunk)
    if (block === undefined) break
    yield* file.write(block)
  }
  const written = yield* file.finish
  if (written.sha256 !== sha256) {
    return yield* exportError(
      "Missing",
      `${name} is not what was exported (SHA-256 ${written.sha256}, not ${sha256}). Nothing was kept in ${folder.path}.`,
    )
  }
}, Effect.scoped)

const sourceOf = Effect.fn("Export.download.source")(function* (batch: KnownBatch, exports: string) {
  if (yield* areKept(batch.book.bookId, batch.manifest)) return fromDatabase(batch)
  const folder = resolve(exports, batch.place)
  const problems = yield* folderProblems(folder, batch)
  if (problems.length === 0) return fromFolder(folder)
  return yield* exportError(
    "Missing",
    [
      `The files of ${nameOf(batch)} are not kept in the database, and ${folder} is not as it was written:`,
      ...problems.map((problem) => `  ${problem}`),
      "Put the folder back, name another place with --exports, or export again.",
    ].join("\n"),
  )
})

const digestOf = (path: string) =>
  attempt(path, async () => {
    const hash = createHash("sha256")
    for await (const part of chunksOf(path)) hash.update(part)
    return hash.digest("hex")
  })

/** Clears what a killed download of the same batch left in the folder, which had no manifest yet, and refuses anything else. */
const clearLeft = Effect.fn("Export.download.clear")(function* (path: string, { manifest }: KnownBatch) {
  const names = yield* listFolder(path)
  const hashes = new Map(manifest.files.map(({ name, sha256 }) => [name, sha256]))
  for (const name of names) {
    const plain = name.replace(/\.partial$/, "")
    const isUnfinished = name !== plain && (plain === manifestFile || hashes.has(plain))
    if (isUnfinished || (hashes.has(name) && (yield* digestOf(join(path, name))) === hashes.get(name)))
      continue
    const rest = names.length === 1 ? "" : ` and ${names.length - 1} more`
    return yield* exportError(
      "FolderTaken",
      `${path} holds ${names[0]}${rest}: name a new or an empty folder with --out. Nothing was written.`,
    )
  }
  yield* Effect.forEach(names, (name) => attempt(path, () => rm(join(path, name))), { discard: true })
})

/** Another download into the same folder would take this one's files for what a killed one left. */
const alone = Effect.fn("Export.download.alone")(function* (path: string) {
  const database = yield* Database
  const lock = `download ${hostname()} ${path}`
  return yield* Effect.catchTag(database.tryLocksOfReader({ lock, shared: false }), "LockBusy", () =>
    exportError(
      "Busy",
      `Another download writes into ${path}: wait for it, or name another folder with --out.`,
    ),
  )
})

/** `to` must be new or empty, but for what a killed download of the batch left. `exports`: the folder that the batches' folders stand in. */
export const download = Effect.fn("Export.download")(function* (
  batch: KnownBatch,
  to: string,
  exports: string,
) {
  const path = resolve(to)
  if (sha256Of(batch.text) !== batch.sha256) {
    return yield* exportError(
      "Missing",
      `The manifest of ${nameOf(batch)} is not the one that was committed.`,
    )
  }
  const { lost } = yield* alone(path)
  const source = yield* sourceOf(batch, exports)
  const made = Effect.gen(function* () {
    yield* clearLeft(path, batch)
    const folder = yield* openFolder(path)
    for (const file of batch.manifest.files) yield* writeFile(folder, file, source)
    yield* folder.publish(batch.manifest.files.map(({ name }) => name))
    const manifest = yield* folder.create(manifestFile)
    yield* manifest.write(encode(batch.text, "utf-8"))
    yield* manifest.finish
    yield* folder.publish([manifestFile])
    yield* folder.keep
  })
  yield* firstOf(made, lost)
  return path
}, Effect.scoped)
