/** What a run left out: clients that are not to be read, and what could not be; and what it noted. */
import { harmless } from "../../../Common/Text.ts"
import { type SyncReport, unreadText } from "../../../Sync/Runs/RunReport.ts"

/** The first ten names, and how many more there are. */
const listed = (what: string, names: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (names.length === 0) return []
  const shown = names.slice(0, 10).map(harmless).join(", ")
  return [`${what}: ${shown}${names.length > 10 ? ` and ${names.length - 10} more` : ""}.`]
}

export const leftOutLines = ({ clientFailures, clients, notices }: SyncReport): ReadonlyArray<string> => [
  ...listed("Not read because of their status", clients.skipped),
  ...clientFailures.map(
    (failure) => `Could not be read: ${harmless(unreadText(failure))}: ${harmless(failure.why)}`,
  ),
  ...notices.map((notice) => `Note: ${harmless(notice)}`),
]
