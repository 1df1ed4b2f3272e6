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

const brotli = promisify(brotliCompress)
const compress = (block: Buffer): Promise<Buffer> =>
  brotli(block, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 1,
      // A window of a whole block: 2^18 bytes.
      [constants.BROTLI_PARAM_LGWIN]: 18,
      [constants.BROTLI_PARAM_SIZE_HINT]: block.length,
    },
  })

const fromBrotli = promisify(brotliDecompress)
const fromGzip = promisify(gunzip)

/** With a window of 2^18 bytes, a Brotli stream's first four bits are 3: gzip, which batches were kept in before, begins otherwise. */
const expand = (content: Buffer): Promise<Buffer> =>
  content[0] === 0x1f ? fromGzip(content) : fromBrotli(content)

/** The next block of a file, shorter only at its end, in the buffer of the one before. */
const readBlock = async (handle: FileHandle, block: Buffer): Promise<Buffer> => {
  let at = 0
  while (at < blockSize) {
    const { bytesRead } = await handle.read(block, at, blockSize - at)
    if (bytesRead === 0) break
    at += bytesRead
  }
  return block.subarray(0, at)
}

const keepFile = Effect.fn("Export.keepFile")(function* (
  bookId: number,
  batch: number,
  folder: string,
  { name, sha256 }: FileRecord,
) {
  const database = yield* Database
  const path = join(folder, name)
  const handle = yield* Effect.acquireRelease(
    attempt(path, () => openRegular(path)),
    (opened) => quietly(() => opened.close()),
  )
  const hash = createHash("sha256")
  const buffer = Buffer.allocUnsafe(blockSize)
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
