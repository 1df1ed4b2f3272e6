/** From new statement entries, what is booked already and the resources behind them to the journal entries to write. */
import { Option } from "effect"
import * as Money from "../Common/Money.ts"
import type { PlacedEntry } from "../Mirror/StatementEntries.ts"
import type { Resource, StatementEntry } from "../Partner.ts"
import type { JournalEntry } from "./JournalEntry.ts"
import { openingBalance } from "./Opening.ts"
import { type PostingContext, postMovement, type Subject } from "./Posting.ts"

/** A resource's identity: two resources of different type may share an id. */
export const resourceKey = (type: string, id: string): string => `${type}|${id}`

export const keyOfEntry = (entry: StatementEntry): Option.Option<string> =>
  Option.zipWith(entry.relatedResourceType, entry.relatedResourceId, resourceKey)

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

const byMovement = (subjects: ReadonlyArray<Subject>): ReadonlyArray<ReadonlyArray<Subject>> => {
  const groups = new Map<string, Array<Subject>>()
  for (const subject of subjects) {
    // Nothing moved: an entry of zero has a place in its statement, and none in the books.
    if (Money.isZero(subject.entry.amount)) continue
    // An entry without a resource is a movement of its own.
    const movement = Option.getOrElse(keyOfEntry(subject.entry), () => subject.entry.entryId)
    const key = `${subject.entry.accountId}|${movement}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [subject])
    else group.push(subject)
  }
  return [...groups.values()].map((group) => group.sort(byPosition))
}

/** The entries of each movement on each account, in posting order, with the resource behind them. */
export const movementsOf = (
  subjects: ReadonlyArray<Subject>,
  resources: ReadonlyMap<string, Resource>,
): ReadonlyArray<readonly [ReadonlyArray<Subject>, Option.Option<Resource>]> =>
  byMovement(subjects).map((group) => {
    const key = Option.flatMap(Option.fromNullable(group[0]), ({ entry }) => keyOfEntry(entry))
    return [group, Option.flatMap(key, (name) => Option.fromNullable(resources.get(name)))]
  })

/** The same input gives the same entries in the same order; nothing new and nothing changed gives none. */
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
