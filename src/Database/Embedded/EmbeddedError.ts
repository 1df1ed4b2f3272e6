import { Data } from "effect"

/** What kept the embedded server from being used; the CLI's advice hangs on it. */
export type EmbeddedReason =
  /** No Postgres binaries are published or installed for this platform. */
  | "NoBinaries"
  /** The binaries are there but do not run on this machine. */
  | "CannotRun"
  /** We are root, and there is no ordinary user to run the server as. */
  | "NoAccount"
  /** There is no database, and this process may not create one. */
  | "NoDatabase"
  /** A folder that must be ours cannot be made, entered, read or written. */
  | "Folder"
  /** The data were written by another major version of Postgres. */
  | "WrongVersion"
  /** The disk of the data has no room left. */
  | "FullDisk"
  /** The cluster could not be created. */
  | "InitFailed"
  /** The server did not start, or did not answer in time. */
  | "StartFailed"

/** The one error of the embedded Postgres launcher. The message says what, where and what to do. */
export class EmbeddedError extends Data.TaggedError("EmbeddedError")<{
  readonly reason: EmbeddedReason
  readonly message: string
}> {}

/** Keeps an `EmbeddedError` as it is and gives anything else thrown a reason and a place. */
export const asEmbeddedError = (error: unknown, reason: EmbeddedReason, doing: string): EmbeddedError =>
  error instanceof EmbeddedError
    ? error
    : new EmbeddedError({
        reason,
        message: `${doing} failed: ${error instanceof Error ? error.message : String(error)}`,
      })
