/** Writes a file as a whole or not at all: for its owner alone, durable, and nothing is left where the disk is full. */
import { open, rm, writeFile } from "node:fs/promises"
import { codeOf } from "./ErrorCode.ts"

/** Fails with the file system's error, `EEXIST` where something has the name already. */
export const writeNewFile = async (
  file: string,
  content: string | Uint8Array | AsyncIterable<Uint8Array>,
): Promise<void> => {
  const handle = await open(file, "wx", 0o600)
  try {
    await writeFile(handle, content)
    await handle.sync()
  } catch (cause) {
    await rm(file, { force: true })
    throw cause
  } finally {
    await handle.close()
  }
}

const full: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT"])

/** What to do about a full disk, where no other name helps; undefined for any other error. */
export const onFullDisk = (cause: unknown): string | undefined =>
  full.has(codeOf(cause))
    ? "The disk is full, or over its quota, and nothing of it was kept: free some space and run it again."
    : undefined
