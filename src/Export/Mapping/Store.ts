/** The versions of each book's mapping: added, never changed. */
import { and, desc, eq, lte } from "drizzle-orm"
import { Effect, Schema } from "effect"
import { int4 } from "../../Database/Columns.ts"
import { accountMappings } from "../../Database/Tables/Export.ts"
import { Database } from "../../Database.ts"
import { MappingRow } from "./Row.ts"

export interface StoredMapping {
  readonly version: number
  readonly rows: ReadonlyArray<MappingRow>
}

const Rows = Schema.Array(MappingRow)
const decode = Schema.decodeUnknown(Rows)
const encode = Schema.encodeSync(Schema.parseJson(Rows))

/** The newest version, of those imported by `asOf` (ISO 8601) where that is given; null where there is none. */
export const newestMapping = Effect.fn("AccountMapping.newest")(function* (
  bookId: number,
  asOf: string | null = null,
) {
  const database = yield* Database
  const [row] = yield* database.orm("AccountMapping.newest", (orm) =>
    orm
      .select()
      .from(accountMappings)
      .where(
        and(
          eq(accountMappings.bookId, bookId),
          asOf === null ? undefined : lte(accountMappings.importedAt, asOf),
        ),
      )
      .orderBy(desc(accountMappings.version))
      .limit(1),
  )
  if (row === undefined) return null
  return { version: row.version, rows: yield* Effect.orDie(decode(row.accounts)) } satisfies StoredMapping
})

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
