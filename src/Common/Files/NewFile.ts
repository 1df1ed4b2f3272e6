/**
 * Writes a file as a whole or not at all: for its owner alone, durable, and nothing is left where the disk is full. What waits for
 * the disk is done on a thread. What does not is done at once: to hand it to a thread and back takes ten times its own time, which
 * is what an export of a thousand small books consists of.
 */
import { randomUUID } from "node:crypto"
import { closeSync, fsync, open, openSync, write, writeSync } from "node:fs"
import { link, rename, rm } from "node:fs/promises"
import { dirname } from "node:path"
import { promisify } from "node:util"
import { codeOf } from "../ErrorCode.ts"

const opened = promisify(open)
const synced = promisify(fsync)
const written = promisify(write)

/** Bytes that are written at once: the system copies them to its memory. */
const mostAtOnce = 64 * 1024

/** A file that was made here and is open to be written. */
export class NewFile {
  private readonly descriptor: number
  private isOpen = true

  private constructor(descriptor: number) {
    this.descriptor = descriptor
  }

  /** Fails with the file system's error, `EEXIST` where something has the name already. */
  static async create(path: string): Promise<NewFile> {
    return new NewFile(await opened(path, "wx", 0o600))
  }

  /** All of the bytes, behind those before. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const left = bytes.length - at
      at +=
        left <= mostAtOnce
          ? writeSync(this.descriptor, bytes, at, left)
          : (await written(this.descriptor, bytes, at, left)).bytesWritten
    }
  }

  /** Makes what was written durable, and closes the file. */
  async finish(): Promise<void> {
    await synced(this.descriptor)
    this.close()
  }

  /** Closes a file that is not finished, whatever the file system says of it; one that is finished stays so. */
  abandon(): void {
    try {
      this.close()
    } catch {
      // Nothing of it is kept.
    }
  }

  /** Once: its number may be another file's soon. */
  private close(): void {
    if (!this.isOpen) return
    this.isOpen = false
    closeSync(this.descriptor)
  }
}

/** Makes a folder's own entries durable. Windows cannot open folders and does not need to. */
export const syncFolder = async (path: string): Promise<void> => {
  if (process.platform === "win32") return
  const folder = openSync(path, "r")
  await synced(folder).finally(() => closeSync(folder))
}

/** Fails as `NewFile.create` does. */
export const writeNewFile = async (
  path: string,
  content: string | Uint8Array | AsyncIterable<Uint8Array>,
): Promise<void> => {
  const file = await NewFile.create(path)
  try {
    if (typeof content === "string") await file.write(Buffer.from(content))
    else if (content instanceof Uint8Array) await file.write(content)
    else for await (const piece of content) await file.write(piece)
    await file.finish()
  } catch (cause) {
    await rm(path, { force: true })
    throw cause
  } finally {
    file.abandon()
  }
}

/** Writes all of a file beside its place, and then has it put there: who is killed in the middle leaves no half file under its name. */
const beside = async (
  path: string,
  content: string | Uint8Array,
  put: (whole: string) => Promise<void>,
): Promise<void> => {
  // Not the process's number, which another one of a container has again.
  const whole = `${path}.${randomUUID().slice(0, 8)}.partial`
  await writeNewFile(whole, content)
  try {
    await put(whole)
  } finally {
    await rm(whole, { force: true })
  }
  await syncFolder(dirname(path))
}

/** As `writeNewFile`, for a file of a name that a person chose. */
export const writeWholeFile = (path: string, content: string | Uint8Array): Promise<void> =>
  beside(path, content, async (whole) => {
    try {
      // A rename would take the place of a file that is there.
      await link(whole, path)
    } catch (cause) {
      if (codeOf(cause) === "EEXIST") throw cause
      // Some file systems have no links.
      await writeNewFile(path, "")
      await rename(whole, path)
    }
  })

/** The file that is there stays as it is until all of the new one is on the disk. */
export const replaceFile = (path: string, content: string): Promise<void> =>
  beside(path, content, (whole) => rename(whole, path))

const full: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT"])

/** What to do about a full disk, where no other name helps; undefined for any other error. */
export const onFullDisk = (cause: unknown): string | undefined =>
  full.has(codeOf(cause))
    ? "The disk is full, or over its quota, and nothing of it was kept: free some space and run it again."
    : undefined
