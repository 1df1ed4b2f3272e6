/** The last page of a list, with which the next run begins. */
import { Either, Option } from "effect"
import type { Page, Resource } from "../../Partner.ts"
import type { Checkpoint } from "../Statements/Checkpoint.ts"
import type { Group } from "./Grouped.ts"

/** Where a page of a list is, and the first of its items that has an identifier. */
export type Place = Pick<Checkpoint, "cursor" | "leadsTo">

const firstIdentifier = (rows: Page<Resource>["rows"]): Option.Option<string> =>
  Option.firstSomeOf(rows.map(Either.match({ onLeft: ({ id }) => id, onRight: ({ id }) => Option.some(id) })))

export const lastPageOf = ({ lastFilled, rows }: Group<Resource>, before: Place): Place =>
  lastFilled === undefined
    ? before
    : { cursor: lastFilled.askedWith, leadsTo: firstIdentifier(rows.slice(-lastFilled.rows)) }

/** Whether a page leads elsewhere than it did when it was the last one. A list that has but one is read from its start anyway. */
export const leadsElsewhere = (start: Checkpoint, { askedWith, rows }: Group<Resource>): boolean =>
  start.complete &&
  Option.isSome(start.cursor) &&
  Option.contains(askedWith, start.cursor.value) &&
  !Option.exists(firstIdentifier(rows), (id) => Option.contains(start.leadsTo, id))
