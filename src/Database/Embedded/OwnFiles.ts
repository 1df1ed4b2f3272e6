/**
 * Files and folders around the embedded server. For root, the server runs as another user, and a name that this user could
 * have changed leads wherever it likes: nothing is opened through a link, and owner and mode are changed by descriptor.
 */

import { constants } from "node:fs"
import { type FileHandle, lstat, mkdir, open, rm } from "node:fs/promises"
import { codeOf } from "../../Common/ErrorCode.ts"
import type { Account } from "./Command.ts"
import { EmbeddedError } from "./EmbeddedError.ts"

// Windows has none of these flags, and opens no folders.
const noFollow = constants.O_NOFOLLOW ?? 0
const folderFlags = constants.O_RDONLY | noFollow | (constants.O_DIRECTORY ?? 0)

export const onWindows = process.platform === "win32"

/** Our own user number; undefined on Windows. */
const ourselves = (): number | undefined => process.getuid?.()

const notOurs = (path: string, what: string): EmbeddedError =>
  new EmbeddedError({
    reason: "Folder",
    message: `${path} ${what}, so nothing is written to it. Find out who put it there, and move it away.`,
  })

/** Opens a folder that is no link. */
const openFolder = async (path: string): Promise<FileHandle> => {
  try {
    return await open(path, folderFlags)
  } catch (error) {
    if (["ELOOP", "ENOTDIR", "EMLINK"].includes(codeOf(error) ?? "")) {
      throw notOurs(path, "is a link or no folder")
    }
    throw error
  }
}

/** Who owns a folder, and who may do what there. */
interface FolderRights {
  readonly uid: number
  readonly gid: number
  readonly mode: number
}

/** Gives a folder that is ours, or one of `from`, its owner and mode. */
export const setRights = async (
  path: string,
  rights: FolderRights,
  from: ReadonlyArray<number> = [],
): Promise<void> => {
  if (onWindows) return
  const handle = await openFolder(path)
  try {
    const { gid, mode, uid } = await handle.stat()
    if (uid !== rights.uid && uid !== ourselves() && !from.includes(uid)) {
      throw notOurs(path, `belongs to the user ${uid}`)
    }
    if ((mode & 0o777) !== rights.mode) await handle.chmod(rights.mode)
    if (uid !== rights.uid || gid !== rights.gid) await handle.chown(rights.uid, rights.gid)
  } finally {
    await handle.close()
  }
}

/** Only the server writes here: its user's folder, closed to everybody else. */
export const serversOwn = (account: Account | undefined): FolderRights => ({
  uid: account?.uid ?? ourselves() ?? 0,
  gid: account?.gid ?? process.getgid?.() ?? 0,
  mode: 0o700,
})

/** Root writes here, and the server's user only passes through. */
export const passedThrough = (account: Account | undefined): FolderRights =>
  account === undefined ? serversOwn(undefined) : { uid: ourselves() ?? 0, gid: account.gid, mode: 0o710 }

/** Makes a folder with these rights where it is missing. Throws when somebody else's stands in its place. */
export const makeOwnFolder = async (path: string, rights: FolderRights): Promise<void> => {
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (codeOf(error) !== "EEXIST") throw error
  })
  await setRights(path, rights)
}

/** Opens a file to append to it, for us alone. What is no regular file of ours is put out of the way. */
export const openOwnLog = async (path: string): Promise<FileHandle> => {
  const found = await lstat(path).catch(() => undefined)
  const ours =
    found === undefined || (found.isFile() && found.uid === (ourselves() ?? found.uid) && found.nlink === 1)
  if (!ours) await rm(path)
  const handle = await open(
    path,
    constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | noFollow,
    0o600,
  )
  await handle.chmod(0o600)
  return handle
}
