/** Downloads of committed batches: only files that a batch names, and only below the exports folder. */
import { type FileHandle, realpath } from "node:fs/promises"
import { join, resolve, sep } from "node:path"
import { Effect, Option } from "effect"
import { openRegular } from "../Common/RegularFile.ts"
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

/** `out` is the folder of exports. */
export const download = Effect.fn("Serve.download")(function* (path: string, out: string, headOnly: boolean) {
  const [, code, batch, name] = address.exec(path) ?? []
  if (code === undefined || batch === undefined || name === undefined) return notThere
  const named = yield* batchFile(code, Number(batch), name)
  if (Option.isNone(named)) return notThere
  const found = yield* locate(resolve(out), named.value.folder, name)
  if (found === undefined) {
    return Reply.plain(
      `The file is not in the exports folder (schedule.out: ${out}) any more; the batch is known.`,
      404,
    )
  }
  const { bytes, handle } = found
  const fileName = `${code}-${batch}-${name}`
  if (!headOnly && bytes > 0) {
    return Reply.download(handle.createReadStream({ end: bytes - 1 }), fileName, bytes)
  }
  yield* Effect.promise(() => handle.close())
  return Reply.download("", fileName, bytes)
})
