/** Writes a batch's files once more, byte for byte: from the database, or else from its folder where that is unchanged. */
import { join, resolve } from "node:path"
import { Effect, type Scope } from "effect"
import { openRegular } from "../../../Common/Files/RegularFile.ts"
import type { DatabaseError } from "../../../Database/DatabaseError.ts"
import type { Database } from "../../../Database.ts"
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

/** `to` must be new or empty. `exports`: the folder that the batches' folders stand in. */
export const download = Effect.fn("Export.download")(function* (
  batch: KnownBatch,
  to: string,
  exports: string,
) {
  const path = resolve(to)
  const [found, ...more] = yield* listFolder(path)
  if (found !== undefined) {
    const rest = more.length === 0 ? "" : ` and ${more.length} more`
    return yield* exportError(
      "FolderTaken",
      `${path} holds ${found}${rest}: name a new or an empty folder with --out. Nothing was written.`,
    )
  }
  if (sha256Of(batch.text) !== batch.sha256) {
    return yield* exportError(
      "Missing",
      `The manifest of ${nameOf(batch)} is not the one that was committed.`,
    )
  }
  const source = yield* sourceOf(batch, exports)
  const folder = yield* openFolder(path)
  for (const file of batch.manifest.files) yield* writeFile(folder, file, source)
  yield* folder.publish(batch.manifest.files.map(({ name }) => name))
  const manifest = yield* folder.create(manifestFile)
  yield* manifest.write(encode(batch.text, "utf-8"))
  yield* manifest.finish
  yield* folder.publish([manifestFile])
  yield* folder.keep
  return path
}, Effect.scoped)
