import { statfsSync } from "node:fs"
import { codeOf } from "../../Common/ErrorCode.ts"
import { EmbeddedError } from "./EmbeddedError.ts"

/** How the system says it; and Postgres by SQLSTATE. */
const fullCodes: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "53100"])

/** With less than this a server can write neither its pid file nor its log, which then says nothing. */
const nothing = 1_000_000

const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(0)} MB`

interface Room {
  readonly free: number
  readonly text: string
}

/** What the disk of a folder has left for an ordinary user; undefined where it cannot be told. */
const roomOf = (folder: string): Room | undefined => {
  try {
    const { bavail, blocks, bsize, ffree, files } = statfsSync(folder)
    // Some file systems make their inodes when they are needed, and count none.
    if (files > 0 && ffree === 0) return { free: 0, text: "it takes no more files" }
    return {
      free: bavail * bsize,
      text: `${megabytes(bavail * bsize)} of ${megabytes(blocks * bsize)} free`,
    }
  } catch {
    return undefined
  }
}

/**
 * Whether a program's output says that a disk is full. Of semaphores and shared memory the system says it in the same words; but the
 * server's own shared memory is a file in the cluster's folder (`dynamic_shared_memory_type`).
 */
export const saysFull = (output: string): boolean =>
  output
    .split("\n")
    .some(
      (line) =>
        /No space left on device|Disk quota exceeded/i.test(line) &&
        (!/semaphore|shared memory/i.test(line) || line.includes("pg_dynshmem/")),
    )

/** A running server ends itself where it cannot make its next file of WAL, of 16 MiB. */
const little = 32_000_000

/** What to say of the disk beside a server that went away: nothing where it has room. */
export const ofLittleRoom = (folder: string): string => {
  const room = roomOf(folder)
  return room === undefined || room.free >= little
    ? ""
    : `; the disk that holds ${folder} is nearly full (${room.text})`
}

/**
 * Whether a full disk keeps a server from starting, whose log ends like this. The log may lack the last failure, for want of room; or
 * be of a time before room was made. Of a quota only the log tells.
 */
export const keepsFromStarting = (folder: string, log: string): boolean => {
  const free = roomOf(folder)?.free ?? little
  return free < nothing || (saysFull(log) && (free < little || /quota/i.test(log)))
}

/** `what` says what could not be done for want of room. */
export const fullDisk = (folder: string, what: string): EmbeddedError => {
  const room = roomOf(folder)
  const state = (room?.free ?? 0) < nothing ? "is full" : "has too little room"
  return new EmbeddedError({
    reason: "FullDisk",
    message:
      `The disk that holds ${folder} ${state}${room === undefined ? "" : ` (${room.text})`}: ${what}. ` +
      "Free some space on it, or make it larger, and run the command again; what was committed is kept.",
  })
}

/** Whether a step met a full disk by itself. */
export const isFullDisk = (error: unknown): boolean => fullCodes.has(codeOf(error) ?? "")
