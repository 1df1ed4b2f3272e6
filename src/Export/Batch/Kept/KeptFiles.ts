/**
 * A batch's files in the database, in compressed blocks: those that were put aside while the files were written, or else made
 * from the files.
 */
import { createHash } from "node:crypto"
import type { FileHandle } from "node:fs/promises"
import { join } from "node:path"
import { and, eq } from "drizzle-orm"
import { Chunk, Effect } from "effect"
import { openRegular, readFirst } from "../../../Common/Files/RegularFile.ts"
import { batchFiles } from "../../../Database/Tables/Export.ts"
import { plainArray } from "../../../Database/TextArray.ts"
import { Database } from "../../../Database.ts"
import { type ExportError, exportError } from "../../ExportError.ts"
import { attempt, attemptNow, quietly } from "../FileAttempt.ts"
import type { FileRecord, Manifest } from "../Manifest.ts"
import { blockSize, compress, compressSmall, expand } from "./Compression.ts"
import type { ReadBlock } from "./PutAside.ts"

/** The next block of a file, shorter only at its end, in the buffer of the one before. */
const readBlock = async (handle: FileHandle, block: Buffer): Promise<Buffer> => {
  let at = 0
  while (at < block.length) {
    const { bytesRead } = await handle.read(block, at, block.length - at)
    if (bytesRead === 0) break
    at += bytesRead
  }
  return block.subarray(0, at)
}

interface KeptBlock {
  readonly bookId: number
  readonly batch: number
  readonly name: string
  /** From 1. */
  readonly chunk: number
  readonly content: Buffer
}

const keepBlocks = Effect.fn("Export.keepBlocks")(function* (blocks: ReadonlyArray<KeptBlock>) {
  if (blocks.length === 0) return
  const database = yield* Database
  const numbers = (key: "bookId" | "batch" | "chunk") => blocks.map((block) => String(block[key]))
  yield* database.execute(
    "Export.keepBlocks",
    (sql) => sql`
      insert into export.batch_files (book_id, batch, name, chunk, content)
      select f.book_id, f.batch, f.name, f.chunk, decode(f.content, 'base64')
      from unnest(${plainArray(sql, numbers("bookId"), "int4")}, ${plainArray(sql, numbers("batch"), "int4")},
        ${plainArray(
          sql,
          blocks.map(({ name }) => name),
        )}, ${plainArray(sql, numbers("chunk"), "int4")},
        ${plainArray(
          sql,
          blocks.map(({ content }) => content.toString("base64")),
        )}) as f (book_id, batch, name, chunk, content)`,
  )
})

const changed = (path: string) =>
  exportError(
    "Disagrees",
    `${path} has changed since it was written: leave the folder alone and export again. The batch is not committed.`,
  )

/** The folder of a batch. */
export interface KeptFolder {
  readonly path: string
  /** The blocks that were put aside while a file was written; undefined where they were not. */
  readonly blocks: (name: string) => ReadBlock | undefined
}

/** A file of a batch, in the batch's folder. */
interface WrittenFile {
  readonly bookId: number
  readonly batch: number
  readonly folder: KeptFolder
  readonly file: FileRecord
}

const keepAside = Effect.fn("Export.keepAside")(function* (
  { batch, bookId, file: { name }, folder }: WrittenFile,
  blocks: ReadBlock,
) {
  for (let chunk = 1; ; chunk++) {
    const content = yield* attempt(join(folder.path, name), () => blocks(chunk))
    if (content === undefined) break
    yield* keepBlocks([{ bookId, batch, name, chunk, content }])
  }
})

/** A file block by block. */
const keepRead = Effect.fn("Export.keepFile")(function* ({ batch, bookId, file, folder }: WrittenFile) {
  const { name, sha256 } = file
  const path = join(folder.path, name)
  const handle = yield* Effect.acquireRelease(
    attempt(path, () => openRegular(path)),
    (opened) => quietly(() => opened.close()),
  )
  const hash = createHash("sha256")
  const buffer = Buffer.allocUnsafe(blockSize)
  // The block before is stored while this one is compressed, on a thread of its own.
  let waiting: ReadonlyArray<KeptBlock> = []
  for (let chunk = 1; ; chunk++) {
    const block = yield* attempt(path, () => readBlock(handle, buffer))
    if (block.length === 0) break
    hash.update(block)
    const compressed = Effect.promise(() => compress(block))
    const [content] = yield* Effect.all([compressed, keepBlocks(waiting)], { concurrency: 2 })
    waiting = [{ bookId, batch, name, chunk, content }]
  }
  yield* keepBlocks(waiting)
  if (hash.digest("hex") !== sha256) return yield* changed(path)
}, Effect.scoped)

/** A small file as a whole. */
const readSmall = ({ batch, bookId, file, folder }: WrittenFile) => {
  const { bytes, name, sha256 } = file
  const path = join(folder.path, name)
  // One byte more than the file has, to notice if it has grown.
  return Effect.flatMap(
    attemptNow(path, () => readFirst(path, bytes + 1)),
    (block): Effect.Effect<ReadonlyArray<KeptBlock>, ExportError> => {
      if (createHash("sha256").update(block).digest("hex") !== sha256) return changed(path)
      const blocks = block.length === 0 ? [] : [{ chunk: 1, content: compressSmall(block) }]
      return Effect.succeed(blocks.map((one) => ({ bookId, batch, name, ...one })))
    },
  )
}

/** Files of up to so many bytes go into one statement with others, so many together. */
const small = 64 * 1024
const filesPerStatement = 128
/** Larger files that are compressed side by side, each on a thread of its own. */
const largeAtOnce = 2

const keepLarge = (file: WrittenFile) => {
  const blocks = file.folder.blocks(file.file.name)
  return blocks === undefined ? keepRead(file) : keepAside(file, blocks)
}

export interface KeptBatch {
  readonly bookId: number
  readonly folder: KeptFolder
  readonly manifest: Pick<Manifest, "batch" | "files">
}

/** Part of the transaction that commits the batches. A file that is read again and is not what its manifest says fails it. */
export const keepFiles = Effect.fn("Export.keepFiles")(function* (batches: ReadonlyArray<KeptBatch>) {
  const files = batches.flatMap(({ bookId, folder, manifest }) =>
    manifest.files.map((file): WrittenFile => ({ bookId, batch: manifest.batch, folder, file })),
  )
  const fit = files.filter(({ file }) => file.bytes <= small)
  for (const some of Chunk.chunksOf(Chunk.fromIterable(fit), filesPerStatement)) {
    const blocks = yield* Effect.forEach(some, readSmall)
    yield* keepBlocks(blocks.flat())
  }
  yield* Effect.forEach(
    files.filter(({ file }) => file.bytes > small),
    keepLarge,
    { concurrency: largeAtOnce, discard: true },
  )
})

/** One block of a kept file; undefined after the last. */
export const keptBlock = Effect.fn("Export.keptBlock")(function* (
  bookId: number,
  batch: number,
  name: string,
  chunk: number,
) {
  const database = yield* Database
  const [row] = yield* database.orm("Export.keptBlock", (orm) =>
    orm
      .select({ content: batchFiles.content })
      .from(batchFiles)
      .where(
        and(
          eq(batchFiles.bookId, bookId),
          eq(batchFiles.batch, batch),
          eq(batchFiles.name, name),
          eq(batchFiles.chunk, chunk),
        ),
      ),
  )
  return row === undefined ? undefined : yield* Effect.promise(() => expand(row.content))
})

/** Whether the database has every file of the batch that holds anything. */
export const areKept = Effect.fn("Export.areKept")(function* (bookId: number, { batch, files }: Manifest) {
  const database = yield* Database
  const rows = yield* database.orm("Export.areKept", (orm) =>
    orm
      .selectDistinct({ name: batchFiles.name })
      .from(batchFiles)
      .where(and(eq(batchFiles.bookId, bookId), eq(batchFiles.batch, batch))),
  )
  const kept = new Set(rows.map(({ name }) => name))
  return files.every(({ bytes, name }) => bytes === 0 || kept.has(name))
})

const lineFeed = 0x0a

/** The line, counted from 1, without its end, as UTF-8; undefined where it is not there or the file is not kept. */
export const keptLine = Effect.fn("Export.keptLine")(function* (
  bookId: number,
  batch: number,
  name: string,
  line: number,
) {
  let at = 1
  const parts: Array<Buffer> = []
  for (let chunk = 1; ; chunk++) {
    const block = yield* keptBlock(bookId, batch, name, chunk)
    if (block === undefined) break
    for (let from = 0; from < block.length; ) {
      const end = block.indexOf(lineFeed, from)
      if (at === line) parts.push(block.subarray(from, end < 0 ? block.length : end))
      if (end < 0) break
      from = end + 1
      at += 1
      if (at > line) return Buffer.concat(parts).toString("utf8").replace(/\r$/, "")
    }
  }
  return parts.length === 0 ? undefined : Buffer.concat(parts).toString("utf8")
})
