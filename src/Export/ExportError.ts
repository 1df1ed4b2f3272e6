import { Data } from "effect"

export type ExportReason =
  /** The scope, a format or the book asked for does not exist or makes no sense: exit code 2. */
  | "Usage"
  /** Another export of the same book runs. */
  | "Busy"
  /** The folder cannot be written: read-only, full, missing rights, a file in the way. */
  | "Folder"
  /** The folder holds a batch that this database does not know. */
  | "FolderTaken"
  /** An accounting system's format cannot hold an account, a currency or an amount, or lacks a setting: exit code 2. */
  | "Refused"
  /** The batch is not in a state that allows it: exit code 2. */
  | "State"
  /** A preview that is no longer what would be exported, or whose files are not as they were written. */
  | "Stale"
  /** A batch's files are neither in the database nor unchanged in their folder. */
  | "Missing"
  /** What would be written does not agree with the ledger's own balances: nothing is written. */
  | "Disagrees"

/** `message` says what, where and what to do. Nothing of the batch is left in the folder. */
export class ExportError extends Data.TaggedError("ExportError")<{
  readonly reason: ExportReason
  readonly message: string
}> {}

export const exportError = (reason: ExportReason, message: string): ExportError =>
  new ExportError({ reason, message })
