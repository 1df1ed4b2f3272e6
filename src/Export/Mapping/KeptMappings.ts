/** The versions of each book's mapping: added, never changed. */
import { Effect, Schema } from "effect"
import { isIn } from "../../Book/ByBook.ts"
import { int4, json } from "../../Database/Columns.ts"
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
  const rows = yield* database.rows(
    "AccountMapping.newest",
    { bookId: int4, version: int4, accounts: json },
    (sql) => sql`
      select distinct on (m.book_id) m.book_id as "bookId", m.version, m.accounts from export.account_mappings m
      where m.book_id ${isIn(sql, bookIds)}
        and m.imported_at <= coalesce(${asOf}::text::timestamptz, 'infinity')
      order by m.book_id, m.version desc`,
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

/** Until the end of the transaction no other import adds a version: each one starts from the names that the one before stored. */
export const waitForImports = Effect.flatMap(Database, (database) =>
  database.execute("AccountMapping.lock", (sql) => sql`lock table export.account_mappings in exclusive mode`),
)

/** Adds a version to a book. Run in one transaction for all books of a file, after `waitForImports`. */
export const addMapping = Effect.fn("AccountMapping.add")(function* (
  bookId: number,
  rows: ReadonlyArray<MappingRow>,
) {
  const database = yield* Database
  const { version } = yield* database.row(
    "AccountMapping.add",
    { version: int4 },
    (sql) => sql`
      -- The clock after the wait for the lock: of two concurrent imports the later version gets the later time.
      insert into export.account_mappings (book_id, version, accounts, imported_at)
      select ${bookId}, coalesce(max(version), 0) + 1, ${encode(rows)}::text::json, clock_timestamp()
      from export.account_mappings where book_id = ${bookId}
      returning version`,
  )
  return version
})
