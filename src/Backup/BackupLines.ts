/** The lines of a backup's file, with a limit on their length. */
import { pipeline } from "node:stream/promises"
import { createGunzip } from "node:zlib"
import { chunksOf } from "../Common/Files/RegularFile.ts"
import { beyondBounds } from "../Common/JsonExtent.ts"
import { backupError } from "./BackupError.ts"

export const damaged = (path: string, what: string) =>
  backupError("Damaged", `${path} ${what}: it is not the backup that was written. Use another one.`)

/** The limits for a row, which is handed on as it is, and for any other line, which is parsed. */
const mostBytesOfRow = 256 * 1024 * 1024
const mostBytesOfOther = 16 * 1024 * 1024

const startsArray = (bytes: Buffer | undefined): boolean => bytes?.[0] === 0x5b

/** The lines of a compressed file. `amongRows`: whether the next line may be a row. */
export const linesOf = async function* (path: string, amongRows: () => boolean): AsyncGenerator<Buffer> {
  const most = (beginning: Buffer | undefined) =>
    amongRows() && startsArray(beginning) ? mostBytesOfRow : mostBytesOfOther
  const gunzip = createGunzip()
  const unpacking = pipeline(chunksOf(path), gunzip)
  // The reader gets the error; if there is no reader, it must not end the process.
  unpacking.catch(() => undefined)
  let rest: Array<Buffer> = []
  let length = 0
  const bounded = (line: Buffer): Buffer => {
    const beyond = amongRows() && startsArray(line) ? undefined : beyondBounds(line)
    if (beyond !== undefined) throw damaged(path, `has a line that no backup has (${beyond})`)
    return line
  }
  for await (const chunk of gunzip) {
    if (!Buffer.isBuffer(chunk)) continue
    let from = 0
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      const piece = chunk.subarray(from, at)
      yield bounded(rest.length === 0 ? piece : Buffer.concat([...rest, piece]))
      rest = []
      length = 0
      from = at + 1
    }
    if (from < chunk.length) rest.push(chunk.subarray(from))
    length += chunk.length - from
    if (length > most(rest[0])) throw damaged(path, "has a line that is longer than any of a backup")
  }
  await unpacking
  if (length > 0) throw damaged(path, "is cut off")
}
