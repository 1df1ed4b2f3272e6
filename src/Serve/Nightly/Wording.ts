/** The texts of a night's alerts. */
import { counted } from "../../Common/Text.ts"
import { spanText } from "../../Common/Time.ts"
import { DatabaseError, type DatabaseReason } from "../../Database/DatabaseError.ts"
import { ExportError, type ExportReason } from "../../Export/ExportError.ts"
import { PartnerError } from "../../Partner/PartnerError.ts"
import type { OpenCounts } from "../../Reconcile/Summary.ts"
import { type TieOut, tieOutSentence } from "../../Reconcile/TieOut.ts"
import { LeaseLost } from "../../Run/Lease.ts"
import { SettingsError } from "../../Settings.ts"
import type { Alert } from "../Alerts.ts"
import { type InboxTrouble, inboxTroubleText } from "../Overview/InboxEvents.ts"

/** What a person can mend; the message itself may hold names. */
const exportReasons: { readonly [reason in ExportReason]?: string } = {
  Busy: "another export of a book runs",
  Folder: "its folder cannot be written",
  FolderTaken: "its folder holds what is not ours",
  Refused: "a format cannot hold the books, or lacks a setting",
  Usage: "what schedule.export names does not go with the settings, or with batches that are there",
  Disagrees: "the files would not have the ledger's figures",
}

const databaseReasons: { readonly [reason in DatabaseReason]?: string } = {
  Unreachable: "the database cannot be reached, or only be read",
  DiskFull: "the database's disk is full: make room, and it goes on by itself until limits.runDeadline",
}

/** Why something failed, for an alert; from the service's answer only the status. */
const reasonOf = (error: unknown): string => {
  if (error instanceof PartnerError) {
    return error.status === undefined
      ? `${error.operation} got no answer that can be used`
      : `${error.operation} answered ${error.status}`
  }
  if (error instanceof DatabaseError)
    return databaseReasons[error.reason] ?? "the database could not do its part"
  if (error instanceof SettingsError) return "the settings lack something, or do not fit"
  if (error instanceof ExportError)
    return exportReasons[error.reason] ?? `the export was refused (${error.reason})`
  return "something went wrong inside Tieout"
}

const runOf = (error: unknown): string => (error instanceof LeaseLost ? `run ${error.runId}, ` : "")

/** Failures other than those of streams (balances, open movements) leave no book behind: the next run reads them again. */
export const unreadWhole = (books: number, seconds: number): string =>
  books === 0
    ? "every list and statement was, but not all that they name"
    : `${counted(books, "book")} ${books === 1 ? "has" : "have"} a list or statement that cannot be read, the first for ${spanText(seconds)}`

export const failureOf = (what: string, connection: string, error: unknown): Alert => ({
  kind: "failure",
  connection,
  text: `The ${what} of connection ${connection} failed (${runOf(error)}${reasonOf(error)}). What was committed stays; the log says more.`,
  counts: {},
})

/** What waits for a person, as sentences and counts; empty if nothing does. */
export const attentionTo = (
  { blockingFindings, quarantined, warnings }: OpenCounts,
  tieOut: TieOut,
  events: InboxTrouble,
): Pick<Alert, "text" | "counts"> => {
  const books =
    blockingFindings + quarantined === 0
      ? []
      : [`${tieOutSentence(tieOut)}. See tieout reconcile, or the status page.`]
  return {
    text: [...books, ...inboxTroubleText(events)].join(" "),
    counts: {
      ...{ blockingFindings, quarantined, warnings },
      ...{ eventsGivenUp: events.givenUp, eventsUnreadable: events.unreadable },
    },
  }
}
