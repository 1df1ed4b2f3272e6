/** The versions of each book's mapping: added, never changed. */
import { and, desc, inArray, lte } from "drizzle-orm"
import { Effect, Schema } from "effect"
import { int4 } from "../../Database/Columns.ts"
import { accountMappings } from "../../Database/Tables/Export.ts"
import { Database } from "../../Database.ts"
import { MappingRow } from "./MappingRow.ts"

export interface StoredMapping {
  readonly version: number
  readonly rows: ReadonlyArray<MappingRow>
}

const Rows = Schema.Array(MappingRow)
const decode = Schema.decodeUnknown(Rows)
const encode = Schema.encodeSync(Schema.parseJson(Rows))

/** By book, the newest version, of those imported by `asOf` (ISO 8601) where that is given; none where there is none. */
export const newestMappings = Effect.fn("AccountMapping.newestOfBooks")(function* (
  bookIds: ReadonlyArray<number>,
  asOf: string | null = null,
) {
  const database = yield* Database
  const { accounts, bookId, importedAt, version } = accountMappings
  const rows = yield* database.orm("AccountMapping.newest", (orm) =>
    orm
      .selectDistinctOn([bookId], { bookId, version, accounts })
      .from(accountMappings)
      .where(and(inArray(bookId, bookIds), asOf === null ? undefined : lte(importedAt, asOf)))
      .orderBy(bookId, desc(version)),
  )
  const found = new Map<number, StoredMapping>()
  for (const row of rows) {
    found.set(row.bookId, { version: row.version, rows: yield* Effect.orDie(decode(row.accounts)) })
  }
  return found
})

/** Of one book; null where there is none. */
export const newestMapping = (bookId: number, asOf: string | null = null) =>
  Effect.map(newestMappings([bookId], asOf), (found) => found.get(bookId) ?? null)

/** Adds a version to a book. Run in one transaction for all books of a file. */
export const addMapping = Effect.fn("AccountMapping.add")(function* (
  bookId: number,
  rows: ReadonlyArray<MappingRow>,
) {
  const database = yield* Database
  const { version } = yield* database.row(
    "AccountMapping.add",
    { version: int4 },
    (sql) => sql`
      insert into export.account_mappings (book_id, version, accounts)
      select ${bookId}, coalesce(max(version), 0) + 1, ${encode(rows)}::text::json
      from export.account_mappings where book_id = ${bookId}
      returning version`,
  )
  return version
})

/** The books that have a mapping. */
export const mappedBooks = Effect.fn("AccountMapping.books")(function* () {
  const database = yield* Database
  const rows = yield* database.orm("AccountMapping.books", (orm) =>
    orm.selectDistinct({ bookId: accountMappings.bookId }).from(accountMappings),
  )
  return new Set(rows.map(({ bookId }) => bookId))
})
