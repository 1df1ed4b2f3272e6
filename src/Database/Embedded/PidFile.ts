import { readFile, realpath, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { run } from "./Command.ts"
import { codeOf } from "./EmbeddedError.ts"

/** What a running server says of itself in `postmaster.pid`. */
export interface Postmaster {
  readonly pid: number
  readonly port: number
  /** The socket's folder; empty where there is none. */
  readonly socketDir: string
  readonly status: string
}

/** The arguments a process was started with, or undefined when it is gone (or a zombie). */
const commandOf = async (pid: number): Promise<string | undefined> => {
  if (process.platform === "linux") {
    return readFile(`/proc/${pid}/cmdline`, "utf8").then(
      (text) => text.split("\0").join(" ").trim() || undefined,
      () => undefined,
    )
  }
  return run("ps", ["-o", "command=", "-p", String(pid)], { cwd: "/" }).then(
    ({ code, output }) => (code === 0 && output !== "" ? output : undefined),
    () => undefined,
  )
}

/** Whether there is a process with this number, whoever's. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === "EPERM"
  }
}

/**
 * Whether a process is the postmaster of this cluster. A process number alone says nothing: after a crash or in a
 * restarted container it may belong to anybody.
 */
export const isPostmasterOf = async (pid: number, cluster: string): Promise<boolean> => {
  if (!isAlive(pid)) return false
  if (process.platform === "win32") return true
  const command = await commandOf(pid)
  if (command === undefined || !command.includes("postgres")) return false
  const real = await realpath(cluster).catch(() => cluster)
  return command.includes(cluster) || command.includes(real)
}

const parse = (text: string): Postmaster | undefined => {
  const [pid, , , port, socketDir, , , status] = text.split("\n")
  if (pid === undefined || !/^\d+$/.test(pid)) return undefined
  return {
    pid: Number.parseInt(pid, 10),
    port: Number.parseInt(port ?? "0", 10) || 0,
    socketDir: socketDir?.trim() ?? "",
    status: status?.trim() ?? "",
  }
}

const pathOf = (cluster: string): string => join(cluster, "postmaster.pid")

/** The server that runs on this cluster, or undefined when none does, whatever a left-over file says. */
export const runningPostmaster = async (cluster: string): Promise<Postmaster | undefined> => {
  const text = await readFile(pathOf(cluster), "utf8").catch(() => "")
  const found = parse(text)
  return found !== undefined && (await isPostmasterOf(found.pid, cluster)) ? found : undefined
}

/**
 * Removes one left-over lock file (`postmaster.pid`, or the socket's) whose process is somebody else's by now. Postgres
 * itself only notices that the process is gone, not that its number was given to another program of the same account.
 */
const removeStale = async (file: string, cluster: string): Promise<void> => {
  const before = await readFile(file, "utf8").catch(() => undefined)
  const found = before === undefined ? undefined : parse(before)
  if (before === undefined || (found !== undefined && (await isPostmasterOf(found.pid, cluster)))) return
  const aside = `${file}.${process.pid}.stale`
  await rename(file, aside).catch(() => undefined)
  const after = await readFile(aside, "utf8").catch(() => undefined)
  if (after !== undefined && after !== before) {
    // Between reading and renaming a new server wrote its own: give it back.
    await writeFile(file, after, { flag: "wx", mode: 0o600 }).catch(() => undefined)
  }
  await rm(aside, { force: true })
}

/** Removes the lock files that a killed server left behind. */
export const removeStaleLocks = async (cluster: string, socketLock: string | undefined): Promise<void> => {
  await removeStale(pathOf(cluster), cluster)
  if (socketLock !== undefined) await removeStale(socketLock, cluster)
}
