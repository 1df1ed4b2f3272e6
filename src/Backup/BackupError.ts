import { Data } from "effect"
import { onFullDisk } from "../Common/Files/NewFile.ts"

export type BackupReason =
  /** The file is there already, or not there or no file, or the database is not empty: exit code 2. */
  | "Usage"
  /** Another backup is writing the file: exit code 4. */
  | "Busy"
  /** The file cannot be written or read. */
  | "File"
  /** The file is no backup, is cut off, or its content is not what was written. */
  | "Damaged"
  /** The backup was made by a version with other tables: exit code 2. */
  | "OtherVersion"

/** `message` says what and what to do. Nothing was changed. */
export class BackupError extends Data.TaggedError("BackupError")<{
  readonly reason: BackupReason
  readonly message: string
}> {}

export const backupError = (reason: BackupReason, message: string): BackupError =>
  new BackupError({ reason, message })

export const isThere = (path: string): BackupError =>
  backupError("Usage", `${path} is there already: name another file, or move it away.`)

export const beingWritten = (path: string): BackupError =>
  backupError("Busy", `Another backup is writing ${path}: wait for it, or name another file.`)

/** The file could not be written, and was removed. */
export const unwritten = (path: string, cause: unknown): BackupError =>
  backupError(
    "File",
    `${path} cannot be written: ${cause instanceof Error ? cause.message : String(cause)}. ${onFullDisk(cause) ?? "Nothing of it is left."}`,
  )
