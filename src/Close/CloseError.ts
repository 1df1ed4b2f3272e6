import { Data } from "effect"

export type CloseReason =
  /** The named month, book or finding makes no sense. */
  | "Usage"
  | "AlreadyClosed"
  /** An earlier month is still open, or the month to reopen is not the latest closed one. */
  | "OutOfOrder"
  | "NotClosed"
  /** The entries of the month are in an archive: it stays closed. */
  | "Archived"

/** Exit code 2. `message` says what, where and what to do. Nothing has been closed or reopened. */
export class CloseError extends Data.TaggedError("CloseError")<{
  readonly reason: CloseReason
  readonly message: string
}> {}

export const closeError = (reason: CloseReason, message: string): CloseError =>
  new CloseError({ reason, message })
