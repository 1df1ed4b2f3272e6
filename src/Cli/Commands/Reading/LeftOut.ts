/** What a run left out: clients that are not to be read, and what could not be; and what it noted. */
import { firstNames, harmless } from "../../../Common/Text.ts"
import { type SyncReport, unreadText } from "../../../Sync/Runs/RunReport.ts"

/** The first ten names, and how many more there are. */
const listed = (what: string, names: ReadonlyArray<string>): ReadonlyArray<string> => {
  return names.length === 0 ? [] : [`${what}: ${firstNames(names.map(harmless), 10)}.`]
}

export const leftOutLines = ({ clientFailures, clients, notices }: SyncReport): ReadonlyArray<string> => [
  ...listed("Not read because of their status", clients.skipped),
  ...clientFailures.map(
    (failure) => `Could not be read: ${harmless(unreadText(failure))}: ${harmless(failure.why)}`,
  ),
  ...notices.map((notice) => `Note: ${harmless(notice)}`),
]
