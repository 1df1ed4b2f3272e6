import { Data } from "effect"

export type ReclassifyReason =
  /** The entry, the account or the name is wrong. */
  | "Usage"
  /** Nothing of the entry stands in suspense or in clearing, or it stands there in several currencies. */
  | "NothingThere"

/** Exit code 2. `message` says what, where and what to do. Nothing has been posted. */
export class ReclassifyError extends Data.TaggedError("ReclassifyError")<{
  readonly reason: ReclassifyReason
  readonly message: string
}> {}

export const reclassifyError = (reason: ReclassifyReason, message: string): ReclassifyError =>
  new ReclassifyError({ reason, message })
