/** The SQL of a selection, shared by everything that reads its entries. */
import { Effect } from "effect"
import { isIn } from "../../Book/ByBook.ts"
import { shiftDate } from "../../Common/Time.ts"
import type { Sql } from "../../Database/Client.ts"
import { bool, int4 } from "../../Database/Columns.ts"
import { plainArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import { recordedAfter, recordedBy } from "../../Ledger/AsOf.ts"
import type { Fragment } from "../../Reconcile/ReconcileScope.ts"
import type { Covered } from "../Batch/Manifest/Lineage.ts"
import type { Selection } from "./ExportScope.ts"

const notCovered = (sql: Sql, covered: ReadonlyArray<Covered>) => sql`not exists (
  select 1 from json_to_recordset(${JSON.stringify(covered)}::text::json) as c ("from" date, "to" date, after bigint, through bigint)
  where e.effective_date between c."from" and c."to" and e.numbering > coalesce(c.after, 0) and e.numbering <= c.through)`

/** Whole months are selected by their period, which has an index; only days within a month need the entry's date. */
const isWholeMonths = ({ from, to }: Selection): boolean =>
  (from === null || from.endsWith("-01")) && (to === null || shiftDate(to, 1).endsWith("-01"))

/**
 * The rows `e` of a selection: of `ledger.journal`, of `ledger.journal_lines`, or of their like in the base currency. `books`:
 * which books' (`isIn`).
 */
export const selected = (sql: Sql, books: Fragment, selection: Selection) => {
  const { asOf, covered, from, since, to } = selection
  const first = from === null ? "-infinity" : `${from.slice(0, 7)}-01`
  const last = to ?? "infinity"
  const days = sql`and e.effective_date between ${from ?? "-infinity"}::text::date and ${last}::text::date`
  return sql`
    e.book_id ${books}
    ${from === null && to === null ? sql`` : sql`and e.period between ${first}::text::date and ${last}::text::date`}
    ${isWholeMonths(selection) ? sql`` : days}
    ${since === null ? sql`` : sql`and e.numbering > ${since}::text::bigint`}
    ${recordedBy(sql, asOf)}
    ${recordedAfter(sql, selection.recordedAfter ?? null)}
    ${covered.length === 0 ? sql`` : sql`and ${notCovered(sql, covered)}`}`
}

/**
 * By `bookId`, whether a selection holds any entry (`inBase`: of the base-currency journal as well), and whether its first day is still to come in the book's time zone. With
 * `offset 0` the server looks for one entry of each book; without, it may join the books to their whole journals.
 */
export const contentsOf = Effect.fn("Export.contentsOf")(function* (
  bookIds: ReadonlyArray<number>,
  selection: Selection,
  inBase = false,
) {
  const database = yield* Database
  const { from, to } = selection
  const rows = yield* database.rows(
    "Export.contentsOf",
    { book_id: int4, holds: bool, ahead: bool },
    (sql) => sql`
      select b.book_id,
        exists (select 1 from ledger.journal e where ${selected(sql, sql`= b.book_id`, selection)} offset 0)
          or ${inBase} and exists (
            select 1 from valuation.entries v
            where v.book_id = b.book_id and v.effective_date between ${from ?? "-infinity"}::text::date and ${to ?? "infinity"}::text::date
              and v.period >= date_trunc('month', ${from ?? "-infinity"}::text::date::timestamp) offset 0) as holds,
        coalesce(${selection.from}::text::date > ledger.day_of(now(), l.time_zone), false) as ahead
      from mirror.books b left join ledger.locks l on l.book_id = b.book_id
      where b.book_id = any (${plainArray(sql, bookIds.map(String), "int4")})`,
  )
  return new Map(rows.map(({ book_id: bookId, ...content }) => [bookId, content]))
})

/** Whether a selection holds any entry. */
export const hasNews = Effect.fn("Export.hasNews")(function* (bookId: number, selection: Selection) {
  const database = yield* Database
  const { news } = yield* database.row(
    "Export.hasNews",
    { news: bool },
    (sql) => sql`
      select exists (
        select 1 from ledger.journal e where ${selected(sql, isIn(sql, [bookId]), selection)}) as news`,
  )
  return news
})
