/** What leaves a book when a year is archived, what stays and why, and what prevents archiving. */
import { Effect } from "effect"
import { archivedThrough } from "../Book/Archived.ts"
import type { Book } from "../Book.ts"
import { agreementOf } from "../Close/Agreement.ts"
import { closesOf, standingClose } from "../Close/CloseRecords.ts"
import { readMonth } from "../Close/Month.ts"
import { bool, int8, nullable, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"

/** Movements that stay because they are not over. */
export interface Kept {
  /** By the reasons that `ledger.archive_units` gives. */
  readonly why: string
  readonly movements: bigint
  readonly entries: bigint
}

export interface BookArchive {
  readonly book: string
  readonly state: "archived" | "archivable" | "refused" | "nothing to archive"
  /** What prevents archiving the book. */
  readonly refusals: ReadonlyArray<string>
  /** How many rows leave, by table. */
  readonly rows: Readonly<Record<string, bigint>>
  readonly kept: ReadonlyArray<Kept>
}

const refusalsOf = Effect.fn("Archive.refusals")(function* ({ bookId }: Book, year: number) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Archive.refusals",
    { what: text },
    // Those that name a month follow the others, by month.
    (sql) => sql`
      select r as what from ledger.archive_refusals(${bookId}, ${year}) r order by r like 'has %', r collate "C"`,
  )
  return rows.map(({ what }) => what)
})

/** In the caller's transaction, which keeps the temporary tables of the plan. */
const rowsOf = Effect.fn("Archive.rows")(function* ({ bookId }: Book, year: number) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Archive.rows",
    { relation: text, rows: int8 },
    (sql) => sql`select relation, rows from ledger.archive_plan(${bookId}, ${year}) order by relation`,
  )
  return Object.fromEntries(rows.map(({ relation, rows: count }) => [relation, count]))
})

const keptOf = Effect.fn("Archive.kept")(function* ({ bookId }: Book, year: number) {
  const database = yield* Database
  return yield* database.rows(
    "Archive.kept",
    { why: text, movements: int8, entries: int8 },
    (sql) => sql`
      select u.kept_by as why, count(*) as movements, sum(u.entries)::bigint as entries
      from ledger.archive_units(${bookId}, ${`${year}-12-01`}::text::date) u
      where u.kept_by is not null group by u.kept_by order by 1`,
  )
})

/** The months not yet archived that no longer agree with their close. */
const disagreements = Effect.fn("Archive.disagreements")(function* (book: Book, year: number) {
  const wrong: Array<string> = []
  const closes = yield* closesOf(book)
  const months = new Set(closes.map(({ period }) => period).filter((period) => period <= `${year}-12`))
  for (const period of months) {
    if (standingClose(closes, period) === undefined) continue
    const { differences } = yield* agreementOf(yield* readMonth(book, period))
    wrong.push(...differences.map((what) => `does not agree with its close of ${period}: ${what}`))
  }
  return wrong
})

const valuedColumns = { valued: bool, first: nullable(text) }

/** Whether the book was ever valued in the base currency, and its first month that is not archived. */
const stateOf = Effect.fn("Archive.state")(function* ({ bookId }: Book, year: number) {
  const database = yield* Database
  return yield* database.row(
    "Archive.state",
    valuedColumns,
    (sql) => sql`
      select exists (select 1 from valuation.months m where m.book_id = ${bookId} and m.state is not null) as valued,
        (select to_char(min(n.period), 'YYYY-MM') from ledger.journal_numbers n
         where n.book_id = ${bookId} and n.period <= ${`${year}-12-01`}::text::date) as first`,
  )
})

const neverValued = ({ code }: Book, year: number): string =>
  `was never valued in the base currency, and cannot be any more once a year of it is archived: value it first (tieout report ${year}-12 --base --book ${code}), or say --never-valued`

/** Part of the caller's transaction: one snapshot. */
export const bookArchive = Effect.fn("Archive.book")(function* (
  book: Book,
  year: number,
  mayBeUnvalued: boolean,
) {
  const { first, valued } = yield* stateOf(book, year)
  const result = { book: book.code, refusals: [], rows: {}, kept: [] }
  const through = yield* archivedThrough(book.bookId)
  const isDone = through !== null && through >= `${year}-12`
  if (first === null || isDone) return { ...result, state: "nothing to archive" } satisfies BookArchive
  const refusals = [...(yield* refusalsOf(book, year))]
  if (!valued && !mayBeUnvalued) refusals.push(neverValued(book, year))
  if (refusals.length === 0) refusals.push(...(yield* disagreements(book, year)))
  if (refusals.length > 0) return { ...result, state: "refused", refusals } satisfies BookArchive
  const rows = yield* rowsOf(book, year)
  const state = (rows["ledger.journal_entries"] ?? 0n) > 0n ? "archivable" : "nothing to archive"
  return { ...result, state, rows, kept: yield* keptOf(book, year) } satisfies BookArchive
})
