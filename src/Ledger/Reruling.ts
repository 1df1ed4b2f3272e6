/**
 * Posting rules that have changed, applied again to what is posted already: what moves between two accounts of the same
 * role, by an entry of its own. A pure function of data, like the posting table.
 */
import type { Option } from "effect"
import * as Money from "../Common/Money.ts"
import type { PlacedEntry } from "../Mirror/StatementEntries.ts"
import type { Resource } from "../Partner.ts"
import type { JournalEntry, Line } from "./JournalEntry.ts"
import { merged, placeOf, roleMeant, shifts } from "./Places.ts"
import { debitsFirst, entryOf } from "./Posting.ts"
import type { Role } from "./Role.ts"
import type { Posted, PostingContext } from "./Subject.ts"

/** A role holds another amount than it should: a sync corrects that, not the rules. */
const unsettled = (posted: ReadonlyArray<Line>, target: ReadonlyArray<Line>): ReadonlySet<Role> =>
  new Set(shifts(posted, target).map(roleMeant))

/** The lines that move a booked amount to the account that the rules name now; none if it is there already. */
export const movedByRules = (
  posted: ReadonlyArray<Line>,
  target: ReadonlyArray<Line>,
): ReadonlyArray<Line> => {
  const left = unsettled(posted, target)
  const back = posted.map((line) => ({ ...line, amount: Money.negate(line.amount) }))
  return debitsFirst(merged([...back, ...target], placeOf).filter((line) => !left.has(roleMeant(line))))
}

export const ruledEntry = (
  subject: PlacedEntry,
  posted: Posted,
  resource: Option.Option<Resource>,
  context: PostingContext,
  lines: ReadonlyArray<Line>,
  reason: string,
): JournalEntry =>
  entryOf(subject, resource, context, {
    kind: "reclassification",
    sequence: posted.sequence + 1,
    occurredAt: posted.datedAt ?? subject.entry.occurredAt,
    description: `Reclassification by rules: ${reason}`,
    lines,
  })
