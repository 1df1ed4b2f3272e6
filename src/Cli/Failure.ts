/** Maps the errors of a command to a message for a person and an exit code for a scheduler. */
import { Cause, Chunk, Data } from "effect"
import { type ExitCode, exitCodes, worst } from "./ExitCode.ts"
import type { Failure } from "./FailureDocument.ts"

/** The arguments are wrong, or name something that does not exist. */
export class UsageError extends Data.TaggedError("UsageError")<{
  readonly detail: string
  readonly advice: string
}> {
  override get message(): string {
    return this.advice === "" ? this.detail : `${this.detail}\n${this.advice}`
  }
}

/** Exit codes of errors other than 1, by class and, where it matters, reason. */
const codes: Readonly<Record<string, ExitCode>> = {
  UsageError: exitCodes.usage,
  SettingsError: exitCodes.usage,
  "DatabaseError.Settings": exitCodes.usage,
  "EmbeddedError.NoAccount": exitCodes.usage,
  "EmbeddedError.NoDatabase": exitCodes.usage,
  "SandboxError.Options": exitCodes.usage,
  "ExportError.Usage": exitCodes.usage,
  "ExportError.Refused": exitCodes.usage,
  "ExportError.State": exitCodes.usage,
  "ExportError.FolderTaken": exitCodes.usage,
  "AccountMappingError.Unreadable": exitCodes.usage,
  "AccountMappingError.Invalid": exitCodes.usage,
  "AsOfError.Usage": exitCodes.usage,
  "BackupError.Usage": exitCodes.usage,
  "BackupError.OtherVersion": exitCodes.usage,
  "BackupError.Busy": exitCodes.busy,
  AheadError: exitCodes.usage,
  ArchivedError: exitCodes.usage,
  "ArchiveError.Owner": exitCodes.usage,
  UnknownBook: exitCodes.usage,
  NothingFound: exitCodes.usage,
  NoSuchRow: exitCodes.usage,
  CloseError: exitCodes.usage,
  ReclassifyError: exitCodes.usage,
  "RatesError.Invalid": exitCodes.usage,
  "RatesError.Unreadable": exitCodes.usage,
  "RatesError.Exists": exitCodes.usage,
  "AccountMappingError.Exists": exitCodes.usage,
  "AccountMappingError.NoFolder": exitCodes.usage,
  "RatesError.NoFolder": exitCodes.usage,
  "VerifyError.NoFolder": exitCodes.usage,
  "ValuationError.Usage": exitCodes.usage,
  "ValuationError.MissingRates": exitCodes.usage,
  "ValuationError.Closed": exitCodes.usage,
  "ValuationError.Archived": exitCodes.usage,
  NoWorkers: exitCodes.usage,
  WorkersEnded: exitCodes.resumable,
  SyncBusy: exitCodes.busy,
  LeaseLost: exitCodes.busy,
  "ExportError.Busy": exitCodes.busy,
  "AsOfError.Busy": exitCodes.busy,
  DeadlineReached: exitCodes.resumable,
  "SyncIncomplete.Stopped": exitCodes.resumable,
  "PartnerError.RateLimited": exitCodes.resumable,
  "PartnerError.Unavailable": exitCodes.resumable,
  "PartnerError.Unreachable": exitCodes.resumable,
  "PartnerError.Timeout": exitCodes.resumable,
  "DatabaseError.Unreachable": exitCodes.resumable,
  "DatabaseError.Conflict": exitCodes.resumable,
}

const field = (error: unknown, name: string): string | undefined => {
  if (typeof error !== "object" || error === null) return undefined
  const value: unknown = Reflect.get(error, name)
  return typeof value === "string" && value !== "" ? value : undefined
}

const sentences = (message: string, more: string | undefined): string =>
  more === undefined || message.includes(more) ? message : `${message}\n${more}`

/** An expected error: tagged, with a message that says what, where and what to do. */
export const failureOf = (error: unknown): Failure => {
  const tag = field(error, "_tag") ?? "Error"
  const reason = field(error, "reason")
  const message = field(error, "message") ?? `${tag}${reason === undefined ? "" : ` (${reason})`}`
  return {
    code: codes[`${tag}.${reason}`] ?? codes[tag] ?? exitCodes.failed,
    error: tag,
    reason: reason ?? null,
    message: sentences(message, field(error, "advice")),
  }
}

const ofDefect = (defect: unknown, cause: Cause.Cause<unknown>, debug: boolean): Failure => {
  const what = defect instanceof Error ? defect.message.split("\n", 1)[0] : String(defect)
  const hint = debug ? Cause.pretty(cause) : "Run it again with TIEOUT_LOG_LEVEL=debug to see where."
  return {
    code: exitCodes.failed,
    error: "Defect",
    reason: null,
    message: `Something went wrong inside Tieout: ${what}\nNothing that was committed is lost.\n${hint}`,
  }
}

const stopped: Failure = {
  code: exitCodes.resumable,
  error: "Interrupted",
  reason: null,
  message:
    "Stopped before it was done. What has been committed stays; run the same command again. A sync goes on from there.",
}

/** All failures of a cause, worst first; repeated messages are reported once. */
export const failuresOf = (cause: Cause.Cause<unknown>, debug: boolean): ReadonlyArray<Failure> => {
  if (Cause.isInterruptedOnly(cause)) return [stopped]
  const failures = [
    ...Chunk.toReadonlyArray(Cause.failures(cause)).map(failureOf),
    ...Chunk.toReadonlyArray(Cause.defects(cause)).map((defect) => ofDefect(defect, cause, debug)),
  ]
  const distinct = failures.filter(
    (failure, index) => failures.findIndex(({ message }) => message === failure.message) === index,
  )
  const worstCode = worst(distinct.map(({ code }) => code))
  return [...distinct].sort((a, b) => Number(b.code === worstCode) - Number(a.code === worstCode))
}
