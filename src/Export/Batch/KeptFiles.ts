/**
 * A batch's files in the database: blocks of a file, each compressed on its own, so that neither keeping nor giving back ever
 * holds more than one of them. By Brotli: at its lowest qualities it takes half of gzip's processor time for less space.
 */
import { createHash } from "node:crypto"
import type { FileHandle } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { brotliCompress, brotliDecompress, constants, gunzip } from "node:zlib"
import { and, eq } from "drizzle-orm"
import { Effect } from "effect"
import { openRegular } from "../../Common/RegularFile.ts"
import { batchFiles } from "../../Database/Tables/Export.ts"
import { Database } from "../../Database.ts"
import { exportError } from "../ExportError.ts"
import { attempt, quietly } from "./Folder.ts"
import type { FileRecord, Manifest } from "./Manifest.ts"

/** Bytes of a file per block: what becomes of it is small enough to be forgotten at once. The table takes up to 1 MiB, compressed. */
export const blockSize = 256 * 1024

/** The logarithm of a window that holds a whole block: of a small file it is small, for its memory is allocated anew each time. */
const windowOf = ({ length }: Buffer): number =>
  Math.max(constants.BROTLI_MIN_WINDOW_BITS, Math.ceil(Math.log2(length)))

const brotli = promisify(brotliCompress)
const compress = (block: Buffer): Promise<Buffer> =>
  brotli(block, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 1,
      [constants.BROTLI_PARAM_LGWIN]: windowOf(block),
      [constants.BROTLI_PARAM_SIZE_HINT]: block.length,
    },
  })

const fromBrotli = promisify(brotliDecompress)
const fromGzip = promisify(gunzip)

/**
 * With a window of at most 2^23 bytes no Brotli stream begins with the byte 0x1f: gzip, which batches were kept in before, does.
 */
const expand = (content: Buffer): Promise<Buffer> =>
  content[0] === 0x1f ? fromGzip(content) : fromBrotli(content)

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

const keepFile = Effect.fn("Export.keepFile")(function* (
  bookId: number,
  batch: number,
  folder: string,
  { bytes, name, sha256 }: FileRecord,
) {
  const database = yield* Database
  const path = join(folder, name)
  const handle = yield* Effect.acquireRelease(
    attempt(path, () => openRegular(path)),
    (opened) => quietly(() => opened.close()),
  )
  const hash = createHash("sha256")
  // One byte more than the file has, to see where it has grown.
  const buffer = Buffer.allocUnsafe(Math.min(blockSize, bytes + 1))
  for (let chunk = 1; ; chunk++) {
    const block = yield* attempt(path, () => readBlock(handle, buffer))
    if (block.length === 0) break
    hash.update(block)
    const content = yield* Effect.promise(() => compress(block))
    yield* database.orm("Export.keepFile", (orm) =>
      orm.insert(batchFiles).values({ bookId, batch, name, chunk, content }),
    )
  }
  if (hash.digest("hex") !== sha256) {
    return yield* exportError(
      "Disagrees",
      `${path} has changed since it was written: leave the folder alone and export again. The batch is not committed.`,
    )
  }
}, Effect.scoped)

/** Part of the transaction that commits the batch. A file that is not what the manifest says fails it. */
export const keepFiles = Effect.fn("Export.keepFiles")(function* (
  bookId: number,
  folder: string,
  { batch, files }: Pick<Manifest, "batch" | "files">,
) {
  yield* Effect.forEach(files, (file) => keepFile(bookId, batch, folder, file), { discard: true })
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
