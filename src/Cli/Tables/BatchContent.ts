/** What a batch holds, in words. */
import { counted } from "../../Common/Text.ts"
import type { Manifest } from "../../Export/Batch/Manifest.ts"

/** `1,137 entries`; of bank statements `1,120 entries in 193 daily statements of 7 accounts`. */
export const contentText = ({ bankStatements = [], entries, holds }: Manifest): string => {
  const booked = counted(entries, "entry", "entries")
  if (holds === undefined) return booked
  const days = bankStatements.reduce((sum, span) => sum + span.days, 0)
  return `${booked} in ${counted(days, "daily statement")} of ${counted(bankStatements.length, "account")}`
}
