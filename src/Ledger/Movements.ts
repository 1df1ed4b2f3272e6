/** Makes the journal entries to write from new statement entries, the resources behind them, and what is booked already. */
import { Option } from "effect"
import * as Money from "../Common/Money.ts"
import type { PlacedEntry } from "../Mirror/StatementEntries.ts"
import type { Resource, StatementEntry } from "../Partner.ts"
import type { JournalEntry } from "./JournalEntry.ts"
import { openingBalance } from "./Opening.ts"
import { postMovement } from "./Posting.ts"
import type { PostingContext, Subject } from "./Subject.ts"

/** A resource's identity: two resources of different type may share an id. */
export const resourceKey = (type: string, id: string): string => `${type}|${id}`

export const keyOfEntry = ({ relatedResourceId, relatedResourceType }: StatementEntry) =>
  Option.isSome(relatedResourceType) && Option.isSome(relatedResourceId)
    ? Option.some(resourceKey(relatedResourceType.value, relatedResourceId.value))
    : Option.none<string>()

export interface MovementsInput {
  /** New entries of one account, in posting order. */
  readonly fresh: ReadonlyArray<PlacedEntry>
  /** What is booked of the same resources, on any account. */
  readonly booked: ReadonlyArray<Subject>
  /** The resources by `resourceKey`, as they are known now. */
  readonly resources: ReadonlyMap<string, Resource>
  /** The first entry of the account is among `fresh`: its balance before it is the opening balance. */
  readonly opens: boolean
}

const byPosition = (a: Subject, b: Subject): number =>
  a.position < b.position ? -1 : a.position > b.position ? 1 : 0

/** The entries of each movement on each account, in posting order, with the resource behind them. */
export const movementsOf = (
  subjects: ReadonlyArray<Subject>,
  resources: ReadonlyMap<string, Resource>,
): ReadonlyArray<readonly [ReadonlyArray<Subject>, Option.Option<Resource>]> => {
  const movements = new Map<string, readonly [Array<Subject>, Option.Option<Resource>]>()
  for (const subject of subjects) {
    const { entry } = subject
    // An entry of zero moves nothing: it has a place in its statement and none in the books.
    if (Money.isZero(entry.amount)) continue
    const name = keyOfEntry(entry)
    // An entry without a resource is a movement of its own.
    const key = `${entry.accountId}|${Option.isSome(name) ? name.value : entry.entryId}`
    const movement = movements.get(key)
    if (movement !== undefined) movement[0].push(subject)
    else {
      const resource = Option.isSome(name) ? Option.fromNullable(resources.get(name.value)) : Option.none()
      movements.set(key, [[subject], resource])
    }
  }
  for (const [group] of movements.values()) if (group.length > 1) group.sort(byPosition)
  return [...movements.values()]
}

/** The same input gives the same entries in the same order; without anything new or changed there are none. */
export const journalEntriesFor = (
  input: MovementsInput,
  context: PostingContext,
): ReadonlyArray<JournalEntry> => {
  const first = input.fresh[0]
  const opening = input.opens && first !== undefined ? Option.toArray(openingBalance(first)) : []
  const subjects: ReadonlyArray<Subject> = [
    ...input.booked,
    ...input.fresh.map(({ entry, position }) => ({ entry, position, posted: Option.none() })),
  ]
  const movements = movementsOf(subjects, input.resources).flatMap(([group, resource]) =>
    postMovement(group, resource, context),
  )
  return [...opening, ...movements]
}
