/** Archived entries: the dump that has them. */
import { Effect } from "effect"
import { counted } from "../Common/Text.ts"
import { int4, type RowOf, text } from "../Database/Columns.ts"
import { textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import { instantText } from "../Reconcile/ReconcileScope.ts"
import type { Step } from "./Step.ts"

const archiveColumns = { year: int4, file: text, digest: text, taken_at: text, at: text, who: text }
const columns = { ...archiveColumns, what: text }

const stepOf = (id: string, row: RowOf<typeof columns>): Step => ({
  title: `archive of ${row.year}`,
  facts: [
    ["holds", row.what],
    ["file", row.file],
    ["SHA-256 of its content", row.digest],
    ["the database as of", row.taken_at],
    ["archived", `${row.at} by ${row.who}`],
    [
      "to look into it",
      `tieout restore ${row.file} into an empty database (TIEOUT_DATA_DIR=…), and there: tieout explain ${id}`,
    ],
  ],
})

/**
 * The archives with the journal entries of these statement entries and conversions, or with these movements. `id`: the
 * identifier that was asked for.
 */
export const archivedSources = Effect.fn("Explain.archivedSources")(function* (
  bookId: number,
  ids: ReadonlyArray<string>,
  id: string,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Explain.archivedSources",
    columns,
    (sql) => sql`
      select a.year::integer as year, a.file, a.digest, ${instantText(sql, sql`a.taken_at`)} as taken_at,
        ${instantText(sql, sql`a.at`)} as at, a.who, string_agg(distinct f.what, '; ' order by f.what) as what
      from (
        select s.year, 'the journal entries' as what from ledger.archived_sources s
        where s.book_id = ${bookId} and s.source_id = any (${textArray(sql, ids)}::uuid[])
        union all
        select r.year, format('the %s in all its versions', mirror.lower_ascii(r.resource_type)) from mirror.archived_resources r
        where r.book_id = ${bookId} and r.resource_id = any (${textArray(sql, ids)}::uuid[])) f
      join ledger.archives a on a.book_id = ${bookId} and a.year = f.year
      group by a.year, a.file, a.digest, a.taken_at, a.at, a.who order by a.year`,
  )
  return rows.map((row) => stepOf(id, row))
})

/** The archives that have entries of a month, for a journal number (`ORG-2024-05-000007`) that is not here any more. `month`: `2024-05`. */
export const archivedNumber = Effect.fn("Explain.archivedNumber")(function* (bookId: number, number: string) {
  const [month = "", nth = ""] = number.split(" ")
  const database = yield* Database
  const rows = yield* database.rows(
    "Explain.archivedNumber",
    { ...archiveColumns, entries: int4, asked: text },
    (sql) => sql`
      select a.year::integer as year, a.file, a.digest, ${instantText(sql, sql`a.taken_at`)} as taken_at,
        ${instantText(sql, sql`a.at`)} as at, a.who, m.entries,
        format('%s-%s-%s', b.code, ${month}::text, lpad(${nth}::text, greatest(6, length(${nth}::text)), '0')) as asked
      from ledger.archived_months m
      join ledger.archives a on a.book_id = m.book_id and a.year = m.year
      join mirror.books b on b.book_id = m.book_id
      where m.book_id = ${bookId} and m.period = ${`${month}-01`}::text::date order by a.year`,
  )
  return rows.map(({ asked, entries, ...row }) =>
    stepOf(asked, { ...row, what: `${counted(entries, "journal entry", "journal entries")} of ${month}` }),
  )
})
