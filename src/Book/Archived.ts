/** The archived years of a book: which dump has them, and which questions can no longer be answered here. */
import { eq, max } from "drizzle-orm"
import { Data, Effect } from "effect"
import { inShell } from "../Common/Text.ts"
import { int4, int8, type RowOf, text } from "../Database/Columns.ts"
import { archives } from "../Database/Tables/Archive.ts"
import { plainArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"

/** The requested data is in an archive; exit code 2. `message` says in which. */
export class ArchivedError extends Data.TaggedError("ArchivedError")<{ readonly message: string }> {}

const archiveColumns = {
  bookId: int4,
  /** The book's code. */
  book: text,
  year: int4,
  /** `2024-12` */
  through: text,
  /** `2024-01-01`, `2024-12-31`: the first day of the first month and the last day of the last month whose entries left. */
  firstDay: text,
  lastDay: text,
  /** The dump's name, and the SHA-256 of its content. */
  file: text,
  digest: text,
  throughNumbering: int8,
  /** The instant from which on all of it was known: ISO 8601 in UTC. */
  knownFrom: text,
  who: text,
  /** ISO 8601, our clock. */
  at: text,
}

/** One archived year. */
export type Archive = RowOf<typeof archiveColumns>

/** The archived years of these books, the earliest first. */
export const archivesOf = Effect.fn("Book.archives")(function* (bookIds: ReadonlyArray<number>) {
  const database = yield* Database
  return yield* database.rows(
    "Book.archives",
    archiveColumns,
    (sql) => sql`
      select a.book_id as "bookId", b.code as book, a.year::integer as year, to_char(a.through, 'YYYY-MM') as through,
        (select min(m.period) from ledger.archived_months m where m.book_id = a.book_id and m.year = a.year)::text as "firstDay",
        ((a.through + interval '1 month')::date - 1)::text as "lastDay", a.file, a.digest,
        a.through_numbering as "throughNumbering",
        to_char(a.known_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "knownFrom", a.who,
        to_char(a.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as at
      from ledger.archives a join mirror.books b on b.book_id = a.book_id
      where a.book_id = any (${plainArray(sql, bookIds.map(String), "int4")}) order by a.book_id, a.year`,
  )
})

/** The archive with a month (`2024-05`): that of the first archived year that reaches to it. */
const archiveWith = (archives: ReadonlyArray<Archive>, month: string): Archive | undefined =>
  archives.find(({ through }) => month <= through)

/** Where the archive is, and how to look into it. */
export const whereIs = ({ at, digest, file, who, year }: Archive): string =>
  `${file} (SHA-256 ${digest}), archived with ${year} on ${at} by ${who}. To look into it: tieout restore ${inShell(file)} into an empty database`

const refusal = (archive: Archive, what: string) =>
  new ArchivedError({
    message: `${what} of ${archive.book} is archived: its entries are in ${whereIs(archive)}.`,
  })

/** Fails where the month of one of the books is archived. `what` names what was asked for. */
export const refuseArchived = Effect.fn("Book.refuseArchived")(function* (
  bookIds: ReadonlyArray<number>,
  month: string,
  what: string = month,
) {
  const archives = yield* archivesOf(bookIds)
  const found = archiveWith(archives, month)
  if (found !== undefined) return yield* refusal(found, what)
})

/** Fails where a time (ISO 8601 in UTC) lies before everything that is archived of the book was known. */
export const refuseBefore = Effect.fn("Book.refuseBefore")(function* (bookId: number, asOf: string) {
  // The first of them: the dumps of later years no longer have what left with it.
  const found = (yield* archivesOf([bookId])).find(({ knownFrom }) => asOf < knownFrom)
  if (found !== undefined)
    return yield* refusal(found, `What the books said at ${asOf}, before ${found.knownFrom},`)
})

/** The last archived month of a book (`2024-12`); null: there is none. */
export const archivedThrough = Effect.fn("Book.archivedThrough")(function* (bookId: number) {
  const database = yield* Database
  const [last] = yield* database.orm("Book.archivedThrough", (orm) =>
    orm
      .select({ day: max(archives.through) })
      .from(archives)
      .where(eq(archives.bookId, bookId)),
  )
  return last?.day?.slice(0, "2024-12".length) ?? null
})
