import { Data } from "effect"

export type CloseReason =
  /** The month, the book or a finding that was named makes no sense: exit code 2. */
  | "Usage"
  | "AlreadyClosed"
  /** An earlier month is still open, or it is not the latest closed one that is to be reopened. */
  | "OutOfOrder"
  | "NotClosed"

/** `message` says what, where and what to do. Nothing has been closed or reopened. */
export class CloseError extends Data.TaggedError("CloseError")<{
  readonly reason: CloseReason
  readonly message: string
}> {}

export const closeError = (reason: CloseReason, message: string): CloseError =>
  new CloseError({ reason, message })
