/**
 * Opens the files of a folder that is checked: regular files only. A link would lead to another file, and a pipe or a device
 * would block for ever.
 */

import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, type Stats } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { codeOf } from "../ErrorCode.ts"
import { beyondBounds } from "../JsonExtent.ts"
import { largestManifest, mostManifestValues } from "./RegularFile/ImportBounds.ts"

/** The name belongs to something other than a regular file; `message` says so. */
export class NotRegular extends Error {
  override readonly name = "NotRegular"
}

// Windows has neither flag: there a link looks like the file that it leads to.
const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** Why opening failed: a link answers ELOOP, a socket or a device without a driver ENXIO. */
const notOpened = (cause: unknown): unknown =>
  ["ELOOP", "EMLINK", "ENXIO"].includes(codeOf(cause) ?? "")
    ? new NotRegular("is a link or no regular file, and was not opened")
    : cause

const otherThanFile = (found: Stats): NotRegular =>
  new NotRegular(`is ${found.isDirectory() ? "a folder" : "no regular file"}, and was not opened`)

/** Throws `NotRegular` or the file system's error. The caller closes the handle. */
export const openRegular = async (path: string): Promise<FileHandle> => {
  const handle = await open(path, flags).catch((cause) => Promise.reject(notOpened(cause)))
  const found = await handle.stat()
  if (found.isFile()) return handle
  await handle.close()
  throw otherThanFile(found)
}

const openedAtOnce = (path: string): number => {
  try {
    return openSync(path, flags)
  } catch (cause) {
    throw notOpened(cause)
  }
}

/**
 * At most the first `most` bytes, a small number, of a file that was just written and waits for no disk: at once, as `NewFile` writes.
 * Throws as `openRegular` does.
 */
export const readFirst = (path: string, most: number): Buffer => {
  const opened = openedAtOnce(path)
  try {
    const found = fstatSync(opened)
    if (!found.isFile()) throw otherThanFile(found)
    const content = Buffer.allocUnsafe(most)
    let at = 0
    while (at < most) {
      const read = readSync(opened, content, at, most - at, null)
      if (read === 0) break
      at += read
    }
    return content.subarray(0, at)
  } finally {
    closeSync(opened)
  }
}

/** The bytes that an opened file has now, piece by piece; reading ends even if the file grows. Closes it. */
const chunksOfOpened = async function* (handle: FileHandle, most: number): AsyncGenerator<Buffer> {
  const size = Math.min((await handle.stat()).size, most)
  if (size === 0) return handle.close()
  for await (const chunk of handle.createReadStream({ end: size - 1 })) {
    if (Buffer.isBuffer(chunk)) yield chunk
  }
}

/** The file's bytes, piece by piece: `most` of them, such as a manifest states, since a hole in a file has any size. */
export const chunksOf = async function* (
  path: string,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<Buffer> {
  yield* chunksOfOpened(await openRegular(path), most)
}

/** The content of a small file, of at most `most` bytes. */
export const readRegular = async (path: string, most: number): Promise<Buffer> => {
  const handle = await openRegular(path)
  try {
    const { size } = await handle.stat()
    if (size > most) throw new NotRegular(`has ${size} bytes, and at most ${most} are read`)
    const content = Buffer.alloc(size)
    let at = 0
    while (at < size) {
      const { bytesRead } = await handle.read(content, at, size - at)
      if (bytesRead === 0) break
      at += bytesRead
    }
    return content.subarray(0, at)
  } finally {
    await handle.close()
  }
}

/**
 * A file that a person or a setting names, of at most `most` bytes. Links to files are accepted, as Kubernetes mounts settings
 * and secrets; pipes and devices are not, since a process that waits for one reacts to no signal.
 */
export const readNamed = (path: string, most: number): Buffer => {
  const opened = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const found = fstatSync(opened)
    if (found.isDirectory()) throw new NotRegular("is a folder")
    if (!found.isFile()) throw new NotRegular("is no regular file")
    if (found.size > most) throw new NotRegular(`has ${found.size} bytes, and at most ${most} are read`)
    return readFileSync(opened)
  } finally {
    closeSync(opened)
  }
}

const reasons: { readonly [code: string]: string } = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EISDIR: "is a folder",
  EACCES: "may not be read by this user",
  EPERM: "may not be read by this user",
}

/** Whether nothing has that name. A folder that this user may not enter says nothing about what is in it. */
export const isMissing = (cause: unknown): boolean => ["ENOENT", "ENOTDIR"].includes(codeOf(cause) ?? "")

/** Why a file that a person or a setting names was not read. */
export const whyUnread = (cause: unknown): string =>
  cause instanceof NotRegular
    ? cause.message
    : (reasons[codeOf(cause) ?? ""] ?? `cannot be read [${codeOf(cause) ?? "unknown error"}]`)

/** The text of a manifest. Throws `NotRegular` where it holds more than any of ours. */
export const readManifestFile = async (path: string): Promise<Buffer> => {
  const bytes = await readRegular(path, largestManifest)
  const beyond = beyondBounds(bytes, mostManifestValues)
  if (beyond !== undefined) throw new NotRegular(`is not read: ${beyond}`)
  return bytes
}
