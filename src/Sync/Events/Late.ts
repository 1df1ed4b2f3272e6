/**
 * What the service does not show as an event says that it is: the part of it that answers may be behind the one that sent the event.
 * Whoever reads once would leave the rest out until the next sync.
 */
import { Effect } from "effect"
import type { Book } from "../../Book.ts"
import { oneOf, text, uuid } from "../../Database/Columns.ts"
import { columnsOf, textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import { resourceTypes } from "../../Partner.ts"
import { ResourceKey } from "../Resources/Hydration.ts"
import { type Announced, keyOfAnnounced, unshownOf } from "./Announced.ts"
import type { Touched } from "./EventHint.ts"

/** Which of them the service answers 404 or 410 for: an event, or an entry, may come before what it names can be read. */
export const unknownOf = Effect.fn("Events.unknown")(function* (book: Book, ids: ReadonlyArray<string>) {
  if (ids.length === 0) return []
  const database = yield* Database
  const rows = yield* database.rows(
    "Events.unknown",
    { type: oneOf(...resourceTypes), id: uuid },
    (sql) => sql`
      select resource_type as type, resource_id as id from mirror.missing_resources
      where book_id = ${book.bookId} and resource_id = any (${textArray(sql, ids)}::uuid[])`,
  )
  return rows.map(({ id, type }) => new ResourceKey({ type, id }))
})

/** The identifiers of the movements that announced postings name. */
export const namedBy = (announced: ReadonlyArray<Announced>): ReadonlyArray<string> =>
  announced.flatMap(({ relatedId }) => relatedId ?? [])

/**
 * By `keyOfResource` the movements that are mirrored in a state from which they go on, though an event says that they have ended, or they
 * had when they were read before; by `keyOfAnnounced` the postings whose movement is not known.
 */
const lateOf = Effect.fn("Events.late")(function* (
  book: Book,
  { announced, ended, resources }: Pick<Touched, "announced" | "ended" | "resources">,
) {
  if (resources.length + announced.length === 0) return []
  const database = yield* Database
  const rows = yield* database.rows("Events.late", { key: text }, (sql) => {
    const columns = columnsOf(sql, announced)
    const ids = (keys: ReadonlyArray<ResourceKey>) =>
      textArray(
        sql,
        keys.map(({ id }) => id),
      )
    return sql`
      select r.resource_type || '|' || r.resource_id as key from mirror.resources r
      where r.book_id = ${book.bookId} and r.resource_id = any (${ids(resources)}::uuid[]) and not r.final
        and (r.resource_id = any (${ids(ended)}::uuid[]) or exists (
          select from mirror.resource_versions v
          where v.book_id = r.book_id and v.resource_id = r.resource_id and v.resource_type = r.resource_type and v.final))
      union
      select t.key
      from unnest(${columns.text(({ relatedId }) => relatedId)}, ${columns.text(keyOfAnnounced)}) as t (related_id, key)
      join mirror.missing_resources m on m.book_id = ${book.bookId} and m.resource_id = t.related_id::uuid`
  })
  return rows.map(({ key }) => key)
})

/** Why there may be more in a moment, by the keys of both. */
export const lackingOf = Effect.fn("Events.lacking")(function* (book: Book, touched: Touched) {
  const unshown = (yield* unshownOf(book, touched)).map(
    ({ key }) => [key, "no statement shows what it is about (yet)"] as const,
  )
  const late = (yield* lateOf(book, touched)).map(
    (key) => [key, "the service shows its movement as it was before, or not at all (yet)"] as const,
  )
  return new Map<string, string>([...unshown, ...late])
})
