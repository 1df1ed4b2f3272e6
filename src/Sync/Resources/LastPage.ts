/** The last page of a list or a statement, with which the next run begins. */
import { Either, Option } from "effect"
import type { Page } from "../../Partner/Lists/Page.ts"
import type { Resource } from "../../Partner.ts"
import type { Checkpoint } from "../Statements/Checkpoint.ts"
import type { Group } from "./Grouped.ts"

/** Where a page is, and the first of its items that has an identifier. */
export type Place = Pick<Checkpoint, "cursor" | "leadsTo">

const firstIdentifier = <A>(rows: Page<A>["rows"], idOf: (item: A) => string): Option.Option<string> =>
  Option.firstSomeOf(
    rows.map(Either.match({ onLeft: ({ id }) => id, onRight: (item) => Option.some(idOf(item)) })),
  )

/** The last page of a group that has rows; undefined where none has any. */
export const lastPageOf = <A>({ lastFilled, rows }: Group<A>, idOf: (item: A) => string): Place | undefined =>
  lastFilled && {
    cursor: lastFilled.askedWith,
    leadsTo: firstIdentifier(rows.slice(-lastFilled.rows), idOf),
  }

/** Whether a page leads elsewhere than it did when it was the last one. A list that has but one is read from its start anyway. */
export const leadsElsewhere = (start: Checkpoint, { askedWith, rows }: Group<Resource>): boolean =>
  Option.isSome(start.cursor) &&
  Option.contains(askedWith, start.cursor.value) &&
  !Option.exists(
    firstIdentifier(rows, ({ id }) => id),
    (id) => Option.contains(start.leadsTo, id),
  )
