/** Downloads of committed batches: only files that a batch names, from below the exports folder or as the database keeps them. */
import { type FileHandle, realpath } from "node:fs/promises"
import { join, resolve, sep } from "node:path"
import { Effect, Option, Stream } from "effect"
import { openRegular } from "../Common/Files/RegularFile.ts"
import { Database } from "../Database.ts"
import { keptBlock } from "../Export/Batch/Kept/KeptFiles.ts"
import * as Reply from "./HttpReply.ts"
import { batchFile } from "./Overview/RecentBatches.ts"

/** Book code, batch number, file name: none of them can be a path or needs decoding. */
const address = /^\/exports\/([A-Z0-9][A-Z0-9_.-]{0,39})\/([1-9]\d{0,8})\/([A-Za-z0-9_][A-Za-z0-9_.-]{0,99})$/

const notThere = Reply.plain("There is no such export.", 404)

interface Found {
  readonly handle: FileHandle
  readonly bytes: number
}

/** Opens the file; none if it does not exist, is not a regular file, or if a link leads out of the exports folder. */
const locate = (root: string, folder: string, name: string) =>
  Effect.tryPromise(async (): Promise<Found | undefined> => {
    const top = await realpath(root)
    const path = await realpath(join(root, folder, name))
    if (!path.startsWith(`${top}${sep}`)) return undefined
    const handle = await openRegular(path)
    return { handle, bytes: (await handle.stat()).size }
  }).pipe(Effect.orElseSucceed(() => undefined))

/**
 * The file as the database keeps it: another machine may have written the folder. The manifest stands with its batch, whether or not
 * the files are kept.
 */
const keptFile = Effect.fn("Serve.keptFile")(function* (
  { bookId, bytes, manifest }: Option.Option.Value<Effect.Effect.Success<ReturnType<typeof batchFile>>>,
  batch: number,
  name: string,
) {
  if (bytes === null) {
    const text = Buffer.from(manifest, "utf8")
    return Option.some({ bytes: text.length, body: Stream.make(text) })
  }
  const first = yield* keptBlock(bookId, batch, name, 1)
  if (first === undefined) return Option.none()
  const database = yield* Database
  const more = Stream.paginateEffect(2, (chunk) =>
    Effect.map(
      keptBlock(bookId, batch, name, chunk),
      (block) =>
        [block ?? new Uint8Array(), block === undefined ? Option.none() : Option.some(chunk + 1)] as const,
    ),
  )
  const body = Stream.provideService(Stream.concat(Stream.make(first), more), Database, database)
  return Option.some({ bytes, body })
})

/** `out` is the folder of exports. */
export const download = Effect.fn("Serve.download")(function* (path: string, out: string, headOnly: boolean) {
  const [, code, batch, name] = address.exec(path) ?? []
  if (code === undefined || batch === undefined || name === undefined) return notThere
  const named = yield* batchFile(code, Number(batch), name)
  if (Option.isNone(named)) return notThere
  const found = yield* locate(resolve(out), named.value.folder, name)
  const fileName = `${code}-${batch}-${name}`
  if (found === undefined) {
    const kept = yield* keptFile(named.value, Number(batch), name)
    if (Option.isSome(kept))
      return Reply.downloadStream(headOnly ? Stream.empty : kept.value.body, fileName, kept.value.bytes)
    return Reply.plain(
      `The file is neither in the exports folder (schedule.out: ${out}) nor in the database (export.keepFiles); the batch is known.`,
      404,
    )
  }
  const { bytes, handle } = found
  if (!headOnly && bytes > 0) {
    return Reply.download(handle.createReadStream({ end: bytes - 1 }), fileName, bytes)
  }
  yield* Effect.promise(() => handle.close())
  return Reply.download("", fileName, bytes)
})
