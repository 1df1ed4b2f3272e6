/**
 * Posting rules that have changed, applied again to what is posted already: what moves between two accounts of the same
 * role, by an entry of its own. A pure function of data, like the posting table.
 */
import type { Option } from "effect"
import type { PlacedEntry } from "../Mirror/StatementEntries.ts"
import type { Amount } from "../Money.ts"
import * as Money from "../Money.ts"
import type { Resource } from "../Partner.ts"
import type { JournalEntry, Line } from "./JournalEntry.ts"
import { debitsFirst, entryOf, type Posted, type PostingContext } from "./Posting.ts"
import type { Role } from "./Role.ts"

const accountOf = ({ role, rule }: Line): string => `${role}|${rule?.code ?? ""}`

const sumsBy = <K>(lines: ReadonlyArray<Line>, keyOf: (line: Line) => K): ReadonlyMap<K, Amount> => {
  const sums = new Map<K, Amount>()
  for (const line of lines) sums.set(keyOf(line), Money.add(sums.get(keyOf(line)) ?? Money.zero, line.amount))
  return sums
}

/** Roles that stand at other amounts than they should: a sync puts those right, and not by rules. */
const unsettled = (posted: ReadonlyArray<Line>, target: ReadonlyArray<Line>): ReadonlySet<Role> => {
  const before = sumsBy(posted, ({ role }) => role)
  const after = sumsBy(target, ({ role }) => role)
  const roles = new Set([...before.keys(), ...after.keys()])
  return new Set(
    [...roles].filter((role) => !Money.equals(before.get(role) ?? Money.zero, after.get(role) ?? Money.zero)),
  )
}

/** The lines that move what stands to where the rules send it now; none where it stands there. */
export const movedByRules = (
  posted: ReadonlyArray<Line>,
  target: ReadonlyArray<Line>,
): ReadonlyArray<Line> => {
  const left = unsettled(posted, target)
  const before = sumsBy(posted, accountOf)
  const after = sumsBy(target, accountOf)
  const accounts = new Map([...posted, ...target].map((line) => [accountOf(line), line]))
  const moved = [...accounts].flatMap(([key, line]): ReadonlyArray<Line> => {
    const amount = Money.subtract(after.get(key) ?? Money.zero, before.get(key) ?? Money.zero)
    return left.has(line.role) || Money.isZero(amount) ? [] : [{ ...line, amount }]
  })
  return debitsFirst(moved)
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
