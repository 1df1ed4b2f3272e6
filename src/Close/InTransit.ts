/**
 * Conversions in transit and loans whose cash has not come: a warning in the reconciliation, and a blocker of the close once
 * they are old and material.
 */
import { Effect } from "effect"
import { byBook } from "../Book/ByBook.ts"
import { int4, text } from "../Database/Columns.ts"
import { plainArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import { Settings } from "../Settings.ts"
import type { Month } from "./Month.ts"

/**
 * Items of the month or before (a conversion is dated by its first entry) that are in transit too long now, by
 * `reconcile.overdue_in_transit`. The month has just been reconciled. Part of the caller's transaction.
 */
export const blockersInTransit = Effect.fn("Close.inTransit")(function* (
  months: ReadonlyArray<Month>,
  period: string,
) {
  const database = yield* Database
  const { reconcile } = yield* Settings
  const ids = months.map(({ book }) => String(book.bookId))
  const rows = yield* database.rows(
    "Close.inTransit",
    { bookId: int4, id: text, check: text, message: text },
    (sql) => sql`
      select t.book_id as "bookId", 'F' || t.finding_id as id, t.check_name as check, t.message
      from reconcile.overdue_in_transit(${reconcile.transitDays}::integer, ${plainArray(sql, ids, "int4")}) t
      where t.since < (${`${period}-01`}::text::date + interval '1 month')
      order by t.since, t.finding_id`,
  )
  return byBook(
    rows.map(({ bookId, check, id, message }) => ({
      ...{ bookId, id, check },
      what: `${check}: ${message}`,
      hint: `tieout explain ${id}`,
    })),
  )
})
