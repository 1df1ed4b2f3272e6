import { randomBytes } from "node:crypto"
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises"
import { dirname, join } from "node:path"
import { type Binaries, program } from "./Binaries.ts"
import { type Account, run } from "./Command.ts"
import { codeOf, EmbeddedError } from "./EmbeddedError.ts"
import { isAlive } from "./PidFile.ts"
import { dataFolder, notWritable, type Place } from "./Place.ts"

/** The role that owns everything in an embedded server. */
export const superuser = "tieout"

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

const give = async (path: string, account: Account | undefined): Promise<void> => {
  if (account !== undefined) await chown(path, account.uid, account.gid)
}

const removeLeftOvers = async (parent: string): Promise<void> => {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(partialPrefix)) continue
    const pid = Number.parseInt(name.slice(partialPrefix.length), 10)
    const folder = join(parent, name)
    const age = await stat(folder).then(
      (status) => Date.now() - status.mtimeMs,
      () => 0,
    )
    if (!isAlive(pid) || age > partialLifetime) {
      await rm(folder, { recursive: true, force: true })
    }
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
 * nothing half-done under the real name, and of two at once one wins, without a lock.
 */
const create = async (cluster: Cluster): Promise<void> => {
  const { account, binaries, place } = cluster
  const parent = dirname(place.home)
  await dataFolder(parent)
  await removeLeftOvers(parent)
  const partial = await mkdtemp(join(parent, `${partialPrefix}${process.pid}-`)).catch((error: unknown) => {
    throw notWritable(parent, error)
  })
  try {
    const password = join(partial, "password")
    await writeFile(password, randomBytes(24).toString("base64url"), { mode: 0o600, flush: true })
    await mkdir(join(partial, "cluster"), { mode: 0o700 })
    for (const path of [partial, password, join(partial, "cluster")]) await give(path, account)
    const locale = ["-E", "UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
    const { code, output } = await run(
      program(binaries, "initdb"),
      [
        ...[
          "-D",
          join(partial, "cluster"),
          "-U",
          superuser,
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
      throw new EmbeddedError({
        reason: "InitFailed",
        message: `The database in ${place.home} could not be created (initdb ended with ${code}): ${output}`,
      })
    }
    await rename(partial, place.home).catch((error: unknown) => {
      // Another process was first: its cluster is as good as ours.
      if (!["ENOTEMPTY", "EEXIST", "EPERM"].includes(codeOf(error) ?? "")) throw error
    })
    await syncFolder(parent)
  } finally {
    await rm(partial, { recursive: true, force: true })
  }
}

/** Makes sure that the cluster is there, whole, and of the version of our binaries. */
export const ensureCluster = async (cluster: Cluster): Promise<void> => {
  const { binaries, folder, place } = cluster
  const content = await readdir(place.home).catch((error: unknown) =>
    codeOf(error) === "ENOENT" ? [] : ["something that is not for us to read"],
  )
  if (content.length === 0) await create(cluster)
  const version = await readFile(join(folder, "PG_VERSION"), "utf8").then(
    (text) => text.trim(),
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
        `${binaries.major}. Move them over with pg_dump, or use the version of Tieout that wrote them.`,
    })
  }
}

/** The generated password of the cluster's role. */
export const readPassword = async (cluster: Cluster): Promise<string> => {
  const file = join(cluster.place.home, "password")
  try {
    await chmod(file, 0o600)
    return (await readFile(file, "utf8")).trim()
  } catch (error) {
    throw new EmbeddedError({
      reason: "Folder",
      message: `The database's password cannot be read from ${file} (${codeOf(error) ?? "unknown error"}).`,
    })
  }
}
