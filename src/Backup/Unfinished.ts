/** What a killed backup left at the place where the next one is written. */
import { rm } from "node:fs/promises"
import { promisify } from "node:util"
import { constants, gunzip } from "node:zlib"
import { isMissing, openRegular } from "../Common/Files/RegularFile.ts"
import { backupError } from "./BackupError.ts"

const expand = promisify(gunzip)

/** How the first line of each backup begins. */
const beginning = '{"tieout":"backup",'

/** As much of a file as is looked at, compressed: it can hold some four megabytes. */
const bytesRead = 4096

/** Whether a file holds the beginning of a backup, or nothing yet. */
const isBegun = async (path: string): Promise<boolean> => {
  const handle = await openRegular(path)
  const read = await handle.read(Buffer.alloc(bytesRead), 0, bytesRead, 0).finally(() => handle.close())
  if (read.bytesRead === 0) return true
  const begun = await expand(read.buffer.subarray(0, read.bytesRead), {
    finishFlush: constants.Z_SYNC_FLUSH,
  })
  return beginning.startsWith(begun.subarray(0, beginning.length).toString("utf8"))
}

/**
 * Removes it, since nothing else does, and refuses anything else of that name. The caller has made sure that no other backup
 * writes it.
 */
export const clearUnfinished = async (path: string): Promise<void> => {
  const isOurs = await isBegun(path).catch((cause) => (isMissing(cause) ? undefined : false))
  if (isOurs === true) await rm(path)
  else if (isOurs === false) {
    throw backupError("Usage", `${path} is no file of a backup: move it away, or name another file.`)
  }
}
