/** What Tieout knew last of books that it can no longer read whole. */
import { Effect } from "effect"
import type { Book } from "../../src/Book.ts"
import { Database } from "../../src/Database.ts"
import { idsOf } from "./BookIds.ts"
import { plain } from "./Decimals.ts"
import type { EntryFact } from "./Facts.ts"
import type { ResourceContent } from "./History.ts"
import type { WorldResource } from "./World.ts"

/** The resource that each entry named when it was last read. */
export type Mirrored = ReadonlyMap<string, EntryFact["related"]>

const amountOf = (fee: ResourceContent["fee"]): string =>
  typeof fee === "object" ? (fee?.amount ?? "0") : (fee ?? "0")

/** The mirrored entries: the books can have no more than these of an account that is no longer served. */
export const mirrored = (books: ReadonlyArray<Book>) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.mirrored",
      (sql) => sql<
        Array<{ readonly entry: string; readonly type: string | null; readonly id: string | null }>
      >`
        select entry_id as entry, related_type as type, related_id as id from mirror.statement_entries
        where book_id = any (${idsOf(books)}::integer[]) and not held`,
    ),
  ).pipe(
    Effect.orDie,
    Effect.map(
      (rows): Mirrored =>
        new Map(
          rows.map(({ entry, id, type }) => [entry, id === null || type === null ? null : { type, id }]),
        ),
    ),
  )

export interface MirroredResource {
  readonly id: string
  readonly status: string
  /** Major unit. */
  readonly fee: string | null
}

/** The resources that were mirrored: one that was malformed until its client went away was never understood. */
export const mirroredResources = (books: ReadonlyArray<Book>) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.mirroredResources",
      (sql) => sql<Array<MirroredResource>>`
        select resource_id as id, status, fee::text as fee from mirror.resources
        where book_id = any (${idsOf(books)}::integer[])`,
    ),
  ).pipe(
    Effect.orDie,
    Effect.map((rows): ReadonlyMap<string, MirroredResource> => new Map(rows.map((row) => [row.id, row]))),
  )

/** What happened to a movement since its client can no longer be read, which nobody could know. */
export const hasChanged = (
  { content, id, status }: WorldResource,
  known: ReadonlyMap<string, MirroredResource>,
) => {
  const last = known.get(id)
  return (
    last !== undefined && (last.status !== status || plain(last.fee ?? "0") !== plain(amountOf(content.fee)))
  )
}
