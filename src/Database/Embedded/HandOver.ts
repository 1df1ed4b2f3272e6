/**
 * Hands data over to the user that runs the server for root. Earlier versions ran it as the distribution's `postgres` or
 * `nobody`, who then owned the data, and the folder around them in which root writes.
 */

import { constants } from "node:fs"
import { type FileHandle, lstat, open, readdir } from "node:fs/promises"
import { join } from "node:path"
import { codeOf } from "../../Common/ErrorCode.ts"
import type { Cluster } from "./Cluster.ts"
import { type Account, run } from "./Command.ts"
import { EmbeddedError } from "./EmbeddedError.ts"
import { onWindows, passedThrough, serversOwn, setRights } from "./OwnFiles.ts"
import { formerAccounts } from "./ServerAccount.ts"

const openFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

const refused = (path: string, what: string, account: Account): EmbeddedError =>
  new EmbeddedError({
    reason: "Folder",
    message:
      `${path} ${what}, so the data were not handed over to the user ${account.name}, who runs Postgres for root. ` +
      `Look at it; if it is yours, give the data to that user (chown -R ${account.name}: …).`,
  })

/** Opens without following a link: owner and mode are read from, and changed on, the same open file. */
const openItself = async (path: string, account: Account): Promise<FileHandle> => {
  try {
    return await open(path, openFlags)
  } catch (error) {
    if (["ELOOP", "EMLINK", "ENXIO"].includes(codeOf(error) ?? "")) {
      throw refused(path, "is a link or no regular file", account)
    }
    throw error
  }
}

/** Gives one file or folder away if a former account owns it. Answers whether it is a folder. */
const give = async (path: string, account: Account, former: ReadonlyArray<number>): Promise<boolean> => {
  const handle = await openItself(path, account)
  try {
    const status = await handle.stat()
    if (!status.isFile() && !status.isDirectory()) throw refused(path, "is no regular file", account)
    if (status.uid !== account.uid) {
      // A hard link to a file of root's has root as its owner.
      if (!former.includes(status.uid)) throw refused(path, `belongs to the user ${status.uid}`, account)
      await handle.chmod(status.mode & 0o700)
      await handle.chown(account.uid, account.gid)
    }
    return status.isDirectory()
  } finally {
    await handle.close()
  }
}

/** The folder itself comes first, so that its old owner can add nothing while its content is handed over. */
const giveTree = async (path: string, account: Account, former: ReadonlyArray<number>): Promise<void> => {
  if (!(await give(path, account, former))) return
  for (const name of await readdir(path)) await giveTree(join(path, name), account, former)
}

const passwordToRoot = async (
  path: string,
  account: Account,
  former: ReadonlyArray<number>,
): Promise<void> => {
  const handle = await openItself(path, account)
  try {
    const status = await handle.stat()
    const known = status.uid === 0 || former.includes(status.uid)
    if (!status.isFile() || status.nlink !== 1 || !known) throw refused(path, "is no file of ours", account)
    await handle.chmod(0o600)
    await handle.chown(0, 0)
  } finally {
    await handle.close()
  }
}

/**
 * Before a start, gives the home to root and its cluster to the account. If it is killed in between, the next start goes on: the
 * cluster belongs to root until everything in it has been handed over.
 */
export const handOver = async ({ account, folder, place }: Cluster): Promise<void> => {
  if (account === undefined || onWindows) return
  const home = await lstat(place.home)
  const cluster = await lstat(folder)
  if (home.uid === 0 && cluster.uid === account.uid) return setRights(place.home, passedThrough(account))
  const former = [account.uid, ...(await formerAccounts())]
  const known = [0, ...former]
  for (const [path, { uid }] of [
    [place.home, home],
    [folder, cluster],
  ] as const) {
    if (!known.includes(uid)) throw refused(path, `belongs to the user ${uid}`, account)
  }
  // From here on only root can replace anything in the home.
  await setRights(place.home, passedThrough(account), former)
  await passwordToRoot(join(place.home, "password"), account, former)
  await setRights(folder, { uid: 0, gid: 0, mode: 0o700 }, former)
  for (const name of await readdir(folder)) await giveTree(join(folder, name), account, former)
  await setRights(folder, serversOwn(account))
  const socket = join(place.home, "socket")
  if ((await lstat(socket).catch(() => undefined)) === undefined) return
  await setRights(socket, serversOwn(account), former)
  // The files of the last server are its old owner's, and the new one cannot open them.
  await run("/bin/sh", ["-c", 'rm -f "$0"/.s.PGSQL.*', socket], { cwd: "/", account })
}
