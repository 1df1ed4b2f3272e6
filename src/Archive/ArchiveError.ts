import { Data } from "effect"

export type ArchiveReason =
  /** Not the owner of the tables: exit code 2. */
  | "Owner"
  /** The dump does not hold what the database had: nothing was removed. */
  | "Dump"
  /** The rows that would leave differ from those in the dump: nothing of that book was removed. */
  | "Moved"

/** `message` says what, and what to do. */
export class ArchiveError extends Data.TaggedError("ArchiveError")<{
  readonly reason: ArchiveReason
  readonly message: string
}> {}

export const archiveError = (reason: ArchiveReason, message: string): ArchiveError =>
  new ArchiveError({ reason, message })
