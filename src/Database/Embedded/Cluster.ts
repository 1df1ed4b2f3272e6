import { randomBytes } from "node:crypto"
import { lstat, mkdtemp, open, readdir, rename, rm, rmdir, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { codeOf } from "../../Common/ErrorCode.ts"
import { NotRegular, openRegular, readRegular } from "../../Common/Files/RegularFile.ts"
import { type Binaries, program } from "./Binaries.ts"
import { type Account, run } from "./Command.ts"
import { EmbeddedError } from "./EmbeddedError.ts"
import { fullDisk, saysFull } from "./FullDisk.ts"
import { makeOwnFolder, onWindows, passedThrough, serversOwn, setRights } from "./OwnFiles.ts"
import { isAlive } from "./PidFile.ts"
import { dataFolder, isOursAlone, notWritable, type Place } from "./Place.ts"
import { formerAccounts } from "./ServerAccount.ts"

/** The role that owns everything in an embedded server: a superuser. */
export const ownerName = "tieout"

/** Everything that is needed to run the server of one data folder. */
export interface Cluster {
  readonly place: Place
  readonly binaries: Binaries
  readonly account: Account | undefined
  /** Postgres' own data folder. */
  readonly folder: string
  readonly log: string
  /** Server settings on top of our own, such as `fsync=off` for tests. */
  readonly settings: Readonly<Record<string, string>>
}

const partialPrefix = ".initdb-"

/** An hour: no initdb takes that long, so what is older was left by a killed one. */
const partialLifetime = 3_600_000

/** Removes a half-made home. What the server's account may have written there, only that account removes. */
const removePartial = async (folder: string, account: Account | undefined): Promise<void> => {
  if (account === undefined) return rm(folder, { recursive: true, force: true })
  const cluster = join(folder, "cluster")
  await run("/bin/rm", ["-rf", cluster], { cwd: "/", account })
  await rmdir(cluster).catch(() => undefined)
  await rm(join(folder, "password"), { force: true }).catch(() => undefined)
  // One that still holds something is left for the next start.
  await rmdir(folder).catch(() => undefined)
}

/** Leaves alone what is not our folder, or lies where others could exchange it: it may lead anywhere. */
const removeLeftOvers = async (parent: string, account: Account | undefined): Promise<void> => {
  if (!(await isOursAlone(parent))) return
  for (const name of await readdir(parent)) {
    if (!name.startsWith(partialPrefix)) continue
    const pid = Number.parseInt(name.slice(partialPrefix.length), 10)
    const folder = join(parent, name)
    const status = await lstat(folder).catch(() => undefined)
    if (status?.isDirectory() !== true || (!onWindows && status.uid !== process.getuid?.())) continue
    const age = Date.now() - status.mtimeMs
    if (!isAlive(pid) || age > partialLifetime) await removePartial(folder, account)
  }
}

const syncFolder = async (folder: string): Promise<void> => {
  // Windows cannot open folders.
  if (process.platform === "win32") return
  const handle = await open(folder, "r")
  await handle.sync().finally(() => handle.close())
}

/**
 * Creates the cluster and its password in a folder of its own and renames that into place: whoever is killed leaves
 * nothing half-done under the real name, and of two at once one wins, without a lock. Answers whether it is this one.
 */
const create = async (cluster: Cluster): Promise<boolean> => {
  const { account, binaries, place } = cluster
  const parent = dirname(place.home)
  await dataFolder(parent)
  await removeLeftOvers(parent, account)
  const partial = await mkdtemp(join(parent, `${partialPrefix}${process.pid}-`)).catch((error: unknown) => {
    throw notWritable(parent, error)
  })
  const password = join(partial, "password")
  // initdb reads the file as the server's user, who loses access once initdb is done.
  const secret = await open(password, "wx", 0o600)
  try {
    await secret.writeFile(randomBytes(24).toString("base64url"))
    await secret.sync()
    if (account !== undefined) {
      await secret.chown(process.getuid?.() ?? 0, account.gid)
      await secret.chmod(0o640)
    }
    await setRights(partial, passedThrough(account))
    await makeOwnFolder(join(partial, "cluster"), serversOwn(account))
    const locale = ["-E", "UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
    const { code, output } = await run(
      program(binaries, "initdb"),
      [
        ...[
          "-D",
          join(partial, "cluster"),
          "-U",
          ownerName,
          "-A",
          "scram-sha-256",
          `--pwfile=${password}`,
          "-k",
        ],
        ...locale,
        ...(cluster.settings.fsync === "off" ? ["--no-sync"] : []),
      ],
      { cwd: partial, account },
    )
    if (code !== 0) {
      if (saysFull(output)) {
        throw fullDisk(parent, "a database could not be begun there, which takes some 60 MB at first")
      }
      throw new EmbeddedError({
        reason: "InitFailed",
        message: `The database in ${place.home} could not be created (initdb ended with ${code}): ${output}`,
      })
    }
    await secret.chmod(0o600)
    if (account !== undefined) await secret.chown(process.getuid?.() ?? 0, process.getgid?.() ?? 0)
    const isFirst = await rename(partial, place.home).then(
      () => true,
      (error: unknown) => {
        // Another process was first: its cluster is as good as ours.
        if (["ENOTEMPTY", "EEXIST", "EPERM"].includes(codeOf(error) ?? "")) return false
        throw error
      },
    )
    await syncFolder(parent)
    return isFirst
  } finally {
    await secret.close()
    await removePartial(partial, account)
  }
}

/** Refuses data of another user even if a server on them would let us in: that user would get everything that we write. */
const refuseOthers = async ({ account, folder, place }: Cluster): Promise<void> => {
  if (onWindows) return
  for (const path of [place.home, folder]) {
    const { uid } = await stat(path).catch(() => ({ uid: undefined }))
    const known = account === undefined ? [process.getuid?.()] : [0, account.uid]
    if (uid === undefined || known.includes(uid)) continue
    if (account === undefined || !(await formerAccounts()).includes(uid)) {
      throw new EmbeddedError({
        reason: "Folder",
        message: `${path} belongs to the user ${uid}, and data of another user are not used. Run Tieout as that user, or set TIEOUT_DATA_DIR.`,
      })
    }
  }
}

/** Nothing is made for who only reads. */
export const noDatabase = (folder: string): EmbeddedError =>
  new EmbeddedError({
    reason: "NoDatabase",
    message:
      `There is no database in ${folder}, and nothing was made. Run it in the project's folder (that of config/tieout.yaml, which tieout init writes), ` +
      "or name the database by DATABASE_URL or TIEOUT_DATA_DIR; tieout sync begins a new one.",
  })

/** Makes sure that the cluster is there, whole, and of the version of our binaries. Answers whether this process made it. */
export const ensureCluster = async (cluster: Cluster, mayCreate: boolean): Promise<boolean> => {
  const { binaries, folder, place } = cluster
  const content = await readdir(place.home).catch((error: unknown) =>
    codeOf(error) === "ENOENT" ? [] : ["something that is not for us to read"],
  )
  // An empty folder is the place of a disk that is not mounted, too.
  if (content.length === 0 && !mayCreate) throw noDatabase(place.home)
  const made = content.length === 0 && (await create(cluster))
  await refuseOthers(cluster)
  const version = await readRegular(join(folder, "PG_VERSION"), 16).then(
    (bytes) => bytes.toString("utf8").trim(),
    (error: unknown) => {
      const denied = codeOf(error) === "EACCES"
      throw new EmbeddedError({
        reason: "Folder",
        message: denied
          ? `The data in ${place.home} belong to another user. Run Tieout as that user, or set TIEOUT_DATA_DIR.`
          : `The folder ${place.home} is there but holds no database. Restore it from a backup, ` +
            "or move it away to begin with an empty one.",
      })
    },
  )
  if (version !== String(binaries.major)) {
    throw new EmbeddedError({
      reason: "WrongVersion",
      message:
        `The data in ${place.home} were written by Postgres ${version}; this version of Tieout brings ` +
        `${binaries.major}. Use the version of Tieout that wrote them; to move them over, tieout backup with that one and tieout restore with this one, into an empty TIEOUT_DATA_DIR.`,
    })
  }
  return made
}

/** The generated password of the cluster's owner. */
export const readPassword = async (cluster: Cluster): Promise<string> => {
  const file = join(cluster.place.home, "password")
  try {
    const handle = await openRegular(file)
    try {
      const { mode, uid } = await handle.stat()
      if (uid === process.getuid?.() && (mode & 0o077) !== 0) await handle.chmod(0o600)
    } finally {
      await handle.close()
    }
    return (await readRegular(file, 1024)).toString("utf8").trim()
  } catch (error) {
    const why =
      error instanceof NotRegular ? `: it ${error.message}` : ` (${codeOf(error) ?? "unknown error"})`
    throw new EmbeddedError({
      reason: "Folder",
      message: `The database's password cannot be read from ${file}${why}.`,
    })
  }
}
