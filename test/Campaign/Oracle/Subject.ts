/** What an entry is known to belong to: nothing (an adjustment), a resource that cannot be read, or a movement. */
import type { EntryFact } from "../Facts.ts"

export const subjectOf = (related: EntryFact["related"], isRead: boolean): string => {
  if (related === null) return "adjustment"
  return `${related.type} ${related.id}${isRead || related.type === "PAYOUT" ? "" : " (unread)"}`
}
