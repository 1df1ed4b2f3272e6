import { lstat, readFile, realpath, stat } from "node:fs/promises"
import { connect } from "node:net"
import { dirname, join } from "node:path"
import { codeOf } from "../../Common/ErrorCode.ts"
import { readRegular } from "../../Common/Files/RegularFile.ts"
import { type Account, run } from "./Command.ts"
import { onWindows } from "./OwnFiles.ts"
import { ownSocketFolder, socketFile } from "./Socket.ts"

/** What a running server says of itself in `postmaster.pid`. */
export interface Postmaster {
  readonly pid: number
  /** When it began, in seconds since 1970 by its own clock. */
  readonly startedAt: number
  readonly port: number
  /** The socket's folder; empty where there is none. */
  readonly socketDir: string
  readonly status: string
  /** Whether its process is one that we see. In another container, with the same volume, it is not. */
  readonly isSeen: boolean
}

/** What the system says of a process. */
interface ProcessFacts {
  readonly uid: number
  readonly command: string
  /** Seconds since 1970. */
  readonly startedAt: number
}

/** Linux counts starts in hundredths of a second since the system came up (proc(5), `starttime`). */
const factsOnLinux = async (pid: number): Promise<ProcessFacts> => {
  const [{ uid }, command, status, system] = await Promise.all([
    stat(`/proc/${pid}`),
    readFile(`/proc/${pid}/cmdline`, "utf8"),
    readFile(`/proc/${pid}/stat`, "utf8"),
    readFile("/proc/stat", "utf8"),
  ])
  // The second field is the program's name in brackets, which may hold anything.
  const fields = status.slice(status.lastIndexOf(")") + 2).split(" ")
  const up = /^btime (\d+)$/m.exec(system)?.[1] ?? ""
  return {
    uid,
    command: command.split("\0").join(" "),
    startedAt: Number.parseInt(up, 10) + Number.parseInt(fields[19] ?? "", 10) / 100,
  }
}

/** Elapsed time as `ps` prints it: `[[days-]hours:]minutes:seconds`. */
const secondsOf = (elapsed: string): number => {
  const [days, clock] = elapsed.includes("-") ? elapsed.split("-") : ["0", elapsed]
  const seconds = (clock ?? "").split(":").reduce((sum, part) => sum * 60 + Number.parseInt(part, 10), 0)
  return Number.parseInt(days ?? "", 10) * 86_400 + seconds
}

const factsElsewhere = async (pid: number): Promise<ProcessFacts | undefined> => {
  const { output } = await run("ps", ["-o", "uid=,etime=,command=", "-p", String(pid)], { cwd: "/" })
  const [, uid, elapsed, command] = /^(\d+) +([\d:-]+) +(.+)$/s.exec(output) ?? []
  if (uid === undefined || elapsed === undefined || command === undefined) return undefined
  return {
    uid: Number.parseInt(uid, 10),
    command: `${command} `,
    startedAt: Date.now() / 1000 - secondsOf(elapsed),
  }
}

/** Undefined when the process is gone, or none of ours to look at. */
const factsOf = (pid: number): Promise<ProcessFacts | undefined> =>
  (process.platform === "linux" ? factsOnLinux(pid) : factsElsewhere(pid)).catch(() => undefined)

/** Whether there is a process with this number, whoever's. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === "EPERM"
  }
}

/** Whether two paths lead to one folder, by whatever links or mounts. */
const leadToOne = async (one: string, other: string): Promise<boolean> => {
  const [a, b] = await Promise.all(
    [one, other].map((path) => stat(path, { bigint: true }).catch(() => undefined)),
  )
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev
}

/**
 * The facts of a process if it is the postmaster of this cluster: run on this folder, by the folder's owner. It may have been
 * started by another name of the folder.
 */
const postmasterFacts = async (pid: number, cluster: string): Promise<ProcessFacts | undefined> => {
  const [facts, folder, real] = await Promise.all([
    factsOf(pid),
    lstat(cluster).catch(() => undefined),
    realpath(cluster).catch(() => cluster),
  ])
  if (facts === undefined || facts.uid !== folder?.uid) return undefined
  const runsOn = (path: string): boolean => facts.command.includes(`postgres -D ${path} `)
  if (runsOn(cluster) || runsOn(real)) return facts
  const named = /\bpostgres -D (\/.*?) -c /s.exec(facts.command)?.[1]
  return named !== undefined && (await leadToOne(named, cluster)) ? facts : undefined
}

/**
 * Whether a process is the postmaster of this cluster. A process number alone says nothing: after a crash or in a
 * restarted container it may belong to anybody.
 */
export const isPostmasterOf = async (pid: number, cluster: string): Promise<boolean> => {
  if (!isAlive(pid)) return false
  return onWindows || (await postmasterFacts(pid, cluster)) !== undefined
}

/** Seconds that may pass between a server's start and its writing the start time down. */
const startTolerance = 60

/**
 * Whether a server may be sent a signal: it is this cluster's, and began when its file says. Where the clock was set
 * meanwhile the two differ; such a server is left running.
 */
export const maySignal = async ({ pid, startedAt }: Postmaster, cluster: string): Promise<boolean> => {
  const facts = await postmasterFacts(pid, cluster)
  return facts !== undefined && Math.abs(facts.startedAt - startedAt) <= startTolerance
}

const parse = (text: string): Postmaster | undefined => {
  const [pid, , startedAt, port, socketDir, , , status] = text.split("\n")
  if (pid === undefined || !/^\d{1,10}$/.test(pid)) return undefined
  return {
    pid: Number.parseInt(pid, 10),
    startedAt: Number.parseInt(startedAt ?? "", 10) || 0,
    port: Number.parseInt(port ?? "0", 10) || 0,
    socketDir: socketDir?.trim() ?? "",
    status: status?.trim() ?? "",
    isSeen: false,
  }
}

const pathOf = (cluster: string): string => join(cluster, "postmaster.pid")

/** Bytes; Postgres writes eight short lines. */
const largestLock = 16_384

const readLock = (file: string): Promise<string> =>
  readRegular(file, largestLock).then(
    (bytes) => bytes.toString("utf8"),
    () => "",
  )

/** Milliseconds in which a server on this machine takes a connection. */
const acceptsWithin = 2_000

/** Whether somebody listens at a socket. One whose server was killed refuses. */
const accepts = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ path })
    const settle = (isThere: boolean): void => {
      socket.destroy()
      resolve(isThere)
    }
    socket.setTimeout(acceptsWithin, () => settle(false))
    socket.once("connect", () => settle(true))
    // Too many wait to be let in.
    socket.once("error", (error) => settle(codeOf(error) === "EAGAIN"))
  })

/**
 * The server that a lock file names, if it runs. Where its number says nothing, whoever listens at the cluster's own socket is the
 * server: a second one on the same files would destroy them, and Postgres, which looks at numbers and at memory that containers do not
 * share, would start it.
 */
const running = async (found: Postmaster | undefined, cluster: string): Promise<Postmaster | undefined> => {
  if (found === undefined) return undefined
  if (await isPostmasterOf(found.pid, cluster)) return { ...found, isSeen: true }
  if (onWindows) return undefined
  const socketDir = ownSocketFolder(dirname(cluster))
  return (await accepts(socketFile(socketDir, found.port))) ? { ...found, socketDir } : undefined
}

/** The server that runs on this cluster, or undefined when none does, whatever a left-over file says. */
export const runningPostmaster = async (cluster: string): Promise<Postmaster | undefined> =>
  running(parse(await readLock(pathOf(cluster))), cluster)

/**
 * Moves a lock file aside and removes it, unless its content is no longer `$2`: then a new server wrote it between two
 * looks, and gets it back. What is no regular file goes, too.
 */
const removal = `
  aside="$1.$$.stale"
  mv "$1" "$aside" || exit 0
  if [ ! -L "$aside" ] && [ -f "$aside" ] && [ "$(cat "$aside")" != "$2" ]; then ln "$aside" "$1"; fi
  rm -rf "$aside"`

/**
 * Removes one left-over lock file (`postmaster.pid`, or the socket's) whose process is somebody else's by now. Postgres
 * itself only notices that the process is gone, not that its number was given to another program of the same account. The
 * server's account does it: the folder is its own.
 */
const removeStale = async (file: string, cluster: string, account: Account | undefined): Promise<void> => {
  if ((await lstat(file).catch(() => undefined)) === undefined) return
  const text = await readLock(file)
  if ((await running(parse(text), cluster)) !== undefined) return
  // As `$(cat …)` gives it.
  const content = text.replaceAll("\0", "").replace(/\n+$/, "")
  await run("/bin/sh", ["-c", removal, "sh", file, content], { cwd: "/", account })
}

/** Removes the lock files that a killed server left behind. Windows cannot tell whose a process is, and leaves it to Postgres. */
export const removeStaleLocks = async (
  cluster: string,
  socketLock: string,
  account: Account | undefined,
): Promise<void> => {
  if (onWindows) return
  await removeStale(pathOf(cluster), cluster, account)
  await removeStale(socketLock, cluster, account)
}
