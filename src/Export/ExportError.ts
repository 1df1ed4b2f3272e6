import { Data } from "effect"
import { inSentence } from "../Book/InSentence.ts"

export type ExportReason =
  /** The scope, a format or the book asked for does not exist or makes no sense: exit code 2. */
  | "Usage"
  /** Another export of the same book runs: exit code 4. */
  | "Busy"
  /** The folder cannot be written: read-only, full, missing rights, a file in the way. */
  | "Folder"
  /** The folder holds what is not ours, or a batch that this database does not know: exit code 2. */
  | "FolderTaken"
  /** An accounting system's format cannot hold an account, a currency or an amount, or lacks a setting: exit code 2. */
  | "Refused"
  /** The batch is not in a state that allows it: exit code 2. */
  | "State"
  /** A preview that is no longer what would be exported, or whose files are not as they were written. */
  | "Stale"
  /** A batch's files are neither in the database nor unchanged in their folder. */
  | "Missing"
  /** The figures to write do not agree with the ledger's own balances: nothing is written. */
  | "Disagrees"

/** What to do about a refusal. `perBook`: a command, whose text ends before the option that names the book. */
export interface Advice {
  readonly text: string
  readonly perBook: boolean
}

/** Why accounting systems' formats cannot hold a book, a line each, and what to do about it. */
export interface Refusal {
  readonly book: string
  /** Where only this format was asked for; others may have been written. */
  readonly format?: string
  readonly problems: ReadonlyArray<string>
  readonly advice: ReadonlyArray<Advice>
  /** Currencies without which it could be written, those that the settings leave out already among them; empty: that would not help. */
  readonly without: ReadonlyArray<string>
}

/** `message` says what, where and what to do. Nothing of the batch is left in the folder. */
export class ExportError extends Data.TaggedError("ExportError")<{
  readonly reason: ExportReason
  readonly message: string
  /** Reasons that are known before anything is written. */
  readonly refusals?: ReadonlyArray<Refusal>
}> {}

export const exportError = (reason: ExportReason, message: string): ExportError =>
  new ExportError({ reason, message })

/** Lines of one book, and books with lines. */
const shownProblems = 50
const shownBooks = 20

const linesOf = ({ book, format, problems }: Refusal): ReadonlyArray<string> => {
  const more = problems.length - shownProblems
  return [
    `The export of the book ${book}${format === undefined ? "" : ` as ${format}`} is refused, nothing of it was written:`,
    ...[...problems.slice(0, shownProblems), ...(more > 0 ? [`… and ${more} more`] : [])].map(
      (line) => `  ${line}`,
    ),
  ]
}

/** What to do, each line once. If all requested books are refused, a command that all of them need is given for all books. */
const adviceOf = (refusals: ReadonlyArray<Refusal>, areAll: boolean): ReadonlyArray<string> => {
  const isForAll = ({ text }: Advice) =>
    areAll && refusals.every(({ advice }) => advice.some((other) => other.text === text))
  const lines = refusals.flatMap(({ advice, book }) =>
    advice.map((one) => (one.perBook && !isForAll(one) ? `${one.text} --book ${book}` : one.text)),
  )
  // The setting is one for all books.
  const without = [...new Set(refusals.flatMap((each) => each.without))].sort()
  return [
    ...new Set(lines),
    ...(without.length === 0
      ? []
      : [`Without these currencies: formats.leaveOut: [${without.join(", ")}] in the settings.`]),
  ]
}

/** One error for all refused books. `areAll`: there are no other books that could be written. */
export const refused = (refusals: ReadonlyArray<Refusal>, areAll = false): ExportError => {
  const further = [...new Set(refusals.slice(shownBooks).map(({ book }) => book))]
  const lines = [
    ...refusals.slice(0, shownBooks).flatMap(linesOf),
    ...(further.length === 0 ? [] : [`Refused as well: ${inSentence(further)}.`]),
    ...adviceOf(refusals.slice(0, shownBooks), areAll),
  ]
  return new ExportError({ reason: "Refused", message: lines.join("\n"), refusals })
}

/** The same where an export of the book in this format alone was tried, and others by themselves. */
export const ofFormat = (error: ExportError, format: string): ExportError =>
  error.refusals === undefined ? error : refused(error.refusals.map((refusal) => ({ ...refusal, format })))
