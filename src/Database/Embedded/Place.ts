import { createHash } from "node:crypto"
import { lstat, realpath, stat, writeFile } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { codeOf } from "../../Common/ErrorCode.ts"
import { makeFolder } from "../../Common/Files/Folders.ts"
import { isMissing, NotRegular, readRegular } from "../../Common/Files/RegularFile.ts"
import type { Account } from "./Command.ts"
import { EmbeddedError } from "./EmbeddedError.ts"
import { fullDisk, isFullDisk } from "./FullDisk.ts"
import { makeOwnFolder, onWindows, passedThrough, setRights } from "./OwnFiles.ts"
import { canEnter, writable } from "./ServerAccount.ts"

/** Folders for root's data that every account can enter and that outlive a reboot. */
const sharedRoots: ReadonlyArray<string> = ["/var/lib/tieout-root", "/var/tmp/tieout"]

/** Where earlier versions kept them. systemd gives this folder to the units' user, as their `StateDirectory`. */
const formerRoot = "/var/lib/tieout"

/** Where the embedded server of one data folder lives. */
export interface Place {
  /** The folder that was asked for, absolute. */
  readonly dataDir: string
  /** The server's own folder: cluster, password, log and socket. */
  readonly home: string
  /** Whether `home` is somewhere else than below `dataDir`, and if so, whether that was decided just now. */
  readonly moved: "no" | "before" | "now"
}

/** Names the folder that holds the data where the server's account cannot enter the data folder. */
const pointerName = "postgres.location"

/** A refusal to look for it is an error that names the folder. */
export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return false
      throw new EmbeddedError({
        reason: "Folder",
        message:
          `Whether ${path} is there cannot be told (${codeOf(error) ?? "unknown error"}), and nothing was made. ` +
          "Run Tieout as the user to whom the folder belongs, or set TIEOUT_DATA_DIR to another.",
      })
    },
  )

/** Whether a data folder has a database, here or where its location file says. */
export const hasData = async (dataDir: string): Promise<boolean> =>
  (await exists(join(dataDir, "postgres"))) || (await exists(join(dataDir, pointerName)))

export const notWritable = (folder: string, error: unknown): EmbeddedError =>
  isFullDisk(error)
    ? fullDisk(folder, "nothing can be made there")
    : new EmbeddedError({
        reason: "Folder",
        message:
          `The folder ${folder} cannot be made or written (${codeOf(error) ?? "unknown error"}). ` +
          "Make it writable, or set TIEOUT_DATA_DIR to a folder that is.",
      })

/** The server's user passes through root's folders. What must be closed is closed below them. */
const folderMode = process.getuid?.() === 0 ? 0o755 : 0o700

/** Makes a folder, turning a refusal into an error that names it. */
export const dataFolder = async (folder: string): Promise<void> => {
  try {
    await makeFolder(folder, folderMode)
  } catch (error) {
    throw notWritable(folder, error)
  }
}

/** The first shared root that is ours alone and that the account can enter. */
export const sharedRoot = async (
  account: Account,
  roots: ReadonlyArray<string> = sharedRoots,
): Promise<string> => {
  for (const root of roots) {
    try {
      await makeFolder(root, folderMode)
      // A folder that somebody else made could hold planted files, and is refused.
      await setRights(root, { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, mode: 0o755 })
      if (await canEnter(root, account)) return root
    } catch {
      // Not here: the next one may do.
    }
  }
  throw new EmbeddedError({
    reason: "Folder",
    message:
      `None of the folders ${roots.join(", ")} can be used by the account ${account.name}. ` +
      "Run Tieout as an ordinary user, or set TIEOUT_DATA_DIR to a folder that this account can enter.",
  })
}

const nameBelowShared = (folder: string): string =>
  createHash("sha256").update(folder).digest("hex").slice(0, 16)

/** Where the location file says that the data are. It is refused when it names anything but what we would have written. */
const pointedTo = async (pointer: string, roots: ReadonlyArray<string>): Promise<string | undefined> => {
  const refused = (why: string): EmbeddedError =>
    new EmbeddedError({
      reason: "Folder",
      message: `${pointer} ${why}. It says where the data are: restore it from a backup.`,
    })
  const owner = await lstat(pointer).then(
    ({ uid }) => uid,
    () => 0,
  )
  if (owner !== 0) throw refused(`belongs to the user ${owner}`)
  const text = await readRegular(pointer, 4096).then(
    (bytes) => bytes.toString("utf8"),
    (error: unknown) => {
      if (codeOf(error) === "ENOENT") return undefined
      throw refused(
        error instanceof NotRegular ? error.message : `cannot be read (${codeOf(error) ?? "unknown"})`,
      )
    },
  )
  const named = text?.split("\n", 1)[0]?.trim()
  // Another process is just writing an empty file; this one comes to the same decision by itself.
  if (named === undefined || named === "") return undefined
  if ([...roots, formerRoot].includes(dirname(named)) && /^[0-9a-f]{16}$/.test(basename(named))) return named
  throw refused(`names no folder of ours below ${roots.join(" or ")}`)
}

const aboveOf = (folder: string): ReadonlyArray<string> =>
  dirname(folder) === folder ? [folder] : [folder, ...aboveOf(dirname(folder))]

/** Whether only root and this process's user can replace this folder, or a name of ours in it. */
export const isOursAlone = async (folder: string): Promise<boolean> => {
  if (onWindows) return true
  for (const above of aboveOf(await realpath(folder))) {
    const { mode, uid } = await stat(above)
    if ((uid !== 0 && uid !== process.getuid?.()) || ((mode & 0o022) !== 0 && (mode & 0o1000) === 0))
      return false
  }
  return true
}

/**
 * The first folder, from this one up, in which the server's account could put another thing in place of ours. Below a
 * sticky folder, such as /tmp, only the owner of a name can.
 */
const changeableBy = async (dataDir: string, account: Account): Promise<string | undefined> => {
  const folders = aboveOf(await realpath(dataDir))
  const written = await writable(folders, account)
  for (const [at, folder] of folders.entries()) {
    const { mode, uid } = await stat(folder)
    if (uid === account.uid) return folder
    if (written.includes(folder) && (at === 0 || (mode & 0o1000) === 0)) return folder
  }
  return undefined
}

/** A link that another user made leads to data of that user's choice. */
const refuseOthersLink = async (path: string): Promise<void> => {
  const status = await lstat(path)
  if (!status.isSymbolicLink() || status.uid === 0) return
  throw new EmbeddedError({
    reason: "Folder",
    message: `${path} is a link that the user ${status.uid} made, so it is not followed for root. Find out why, and move it away.`,
  })
}

/**
 * Decides where the data are. The first decision is final: data below `dataDir`, or where its `postgres.location` says,
 * are used whatever the permissions have become, so that books never seem to be gone.
 */
export const findPlace = async (
  dataDir: string,
  account: Account | undefined,
  roots: ReadonlyArray<string> = sharedRoots,
): Promise<Place> => {
  const folder = resolve(dataDir)
  await dataFolder(folder)
  // A link may lead elsewhere tomorrow, while a server that was started by it still runs.
  const real = onWindows ? folder : await realpath(folder).catch(() => folder)
  const inside = { dataDir: folder, home: join(real, "postgres"), moved: "no" } as const
  if (account === undefined) return inside
  const refused = (what: string, data = inside.home): EmbeddedError =>
    new EmbeddedError({ reason: "Folder", message: `The data in ${data} ${what}` })
  const whereItWrites = (changeable: string): string =>
    `lie where the user ${account.name} may write (${changeable}), and Postgres runs as this user for root. ` +
    `Run Tieout as ${account.name}, or make ${changeable} writable for root alone.`
  const there = await exists(inside.home)
  if (there) await refuseOthersLink(inside.home)
  // The home may be a link to another disk.
  const home = there ? await realpath(inside.home) : inside.home
  const enters = await canEnter(dirname(home), account)
  const changeable =
    (await changeableBy(folder, account)) ?? (there ? await changeableBy(dirname(home), account) : undefined)
  if (there) {
    if (changeable !== undefined) throw refused(whereItWrites(changeable))
    if (enters) return { ...inside, home }
    throw refused(
      `cannot be entered by the account ${account.name}, which runs Postgres for root. Let others pass through the ` +
        "folders above it (chmod o+x), or set TIEOUT_DATA_DIR to where the data should be.",
    )
  }
  const pointer = join(folder, pointerName)
  const pointed = await pointedTo(pointer, roots)
  if (pointed !== undefined) {
    const parent = await realpath(dirname(pointed)).catch(() => undefined)
    const written = parent === undefined ? undefined : await changeableBy(parent, account)
    if (written !== undefined) throw refused(whereItWrites(written), pointed)
    if (!(await exists(pointed))) {
      throw new EmbeddedError({
        reason: "Folder",
        message:
          `${pointer} says that the data are in ${pointed}, and there is no such folder. Nothing was made: mount its disk, ` +
          `or restore it from a backup; where the data are gone for good, remove ${pointer} to begin with an empty database.`,
      })
    }
    return { dataDir: folder, home: pointed, moved: "before" }
  }
  if (enters && changeable === undefined) return inside
  const below = join(await sharedRoot(account, roots), nameBelowShared(folder))
  const why = enters ? "may write to" : "cannot enter"
  const text =
    `${below}\n\nThe account ${account.name}, which runs Postgres for root, ${why} this folder.\n` +
    "The data are in the folder named in the first line. Keep this file: without it they are not found.\n"
  // First the folder: a location file that names none means that the data were lost, not that they are still to be made.
  await makeOwnFolder(below, passedThrough(account))
  // "wx" follows no link, and of two at once both write the same.
  await writeFile(pointer, text, { flag: "wx", mode: 0o644 }).catch((error: unknown) => {
    if (codeOf(error) !== "EEXIST") throw error
  })
  return { dataDir: folder, home: below, moved: "now" }
}
