/** A file of a batch's folder while it is written, under its partial name. */
import { Effect } from "effect"
import type { NewFile } from "../../Common/Files/NewFile.ts"
import type { ExportError } from "../ExportError.ts"
import { steady } from "./FileAttempt.ts"
import type { Blocks, ReadBlock } from "./Kept/PutAside.ts"
import { type LineChecks, LineDigests } from "./Manifest/LineChecks.ts"

export interface WrittenFile {
  readonly name: string
  readonly bytes: number
  /** Lower-case hexadecimal. */
  readonly sha256: string
  readonly lines: LineChecks
}

/** A file on its way: bytes in order, then `finish`, which makes it durable under its partial name. */
export interface FolderFile {
  readonly write: (content: Buffer) => Effect.Effect<void, ExportError>
  readonly finish: Effect.Effect<WrittenFile, ExportError>
}

/** Bytes that are put together before they are written: a small file is written at once. */
export const mostWaiting = 64 * 1024

/** `blocks`: what is written of a file that is not small is put aside, too. `ended` has them in the end. */
export const openFile = (
  path: string,
  name: string,
  file: NewFile,
  blocks: Blocks | undefined,
  ended: (blocks: ReadBlock) => void,
): FolderFile => {
  const digests = new LineDigests()
  let bytes = 0
  let waiting: Array<Buffer> = []
  let waitingBytes = 0
  const writeOut = async (content: Buffer): Promise<void> => {
    digests.add(content)
    bytes += content.length
    await file.write(content)
  }
  const flush = async (aside: Blocks | undefined): Promise<void> => {
    const content = Buffer.concat(waiting)
    waiting = []
    waitingBytes = 0
    if (content.length === 0) return
    await aside?.add(content)
    await writeOut(content)
  }
  return {
    write: (content) =>
      Effect.suspend(() => {
        if (waitingBytes + content.length <= mostWaiting) {
          // The caller may use its buffer again.
          waiting.push(Buffer.from(content))
          waitingBytes += content.length
          return Effect.void
        }
        return steady(path, async () => {
          await flush(blocks)
          await blocks?.add(content)
          await writeOut(content)
        })
      }),
    finish: steady(path, async () => {
      const isSmall = bytes === 0
      await flush(isSmall ? undefined : blocks)
      await file.finish()
      if (blocks !== undefined && !isSmall) ended(await blocks.end())
      return { name, bytes, sha256: digests.sha256(), lines: digests.checks() }
    }),
  }
}
