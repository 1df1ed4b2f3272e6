/**
 * Conversions in transit and loans whose cash has not come: a warning in the reconciliation, a blocker of a close where they
 * are old and material.
 */
import { Effect } from "effect"
import { byBook } from "../Book/ByBook.ts"
import { int4, text } from "../Database/Columns.ts"
import { plainArray, textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import { Settings } from "../Settings.ts"
import type { Blocker } from "./Gate.ts"
import type { Month } from "./Month.ts"

/**
 * Items of the month or before (a conversion is dated by its first entry) that are now older than
 * `reconcile.transitDays` and above `reconcile.materiality`. The month has just been reconciled. Part of the caller's transaction.
 */
export const blockersInTransit = Effect.fn("Close.inTransit")(function* (
  months: ReadonlyArray<Month>,
  period: string,
) {
  const database = yield* Database
  const { reconcile } = yield* Settings
  const ids = months.map(({ book }) => String(book.bookId))
  const zones = months.map(({ timeZone }) => timeZone)
  const rows = yield* database.rows(
    "Close.inTransit",
    { bookId: int4, id: text, check: text, message: text },
    (sql) => sql`
      select f.book_id as "bookId", 'F' || f.finding_id as id, f.check_name as check, f.message
      from unnest(${plainArray(sql, ids, "int4")}, ${textArray(sql, zones)}) as m (book_id, zone)
      join reconcile.open_findings f on f.book_id = m.book_id
      where f.check_name in ('conversion-in-transit', 'loan-in-transit')
        and (f.evidence ->> 'since')::date < (${`${period}-01`}::text::date + interval '1 month')
        and ledger.day_of(now(), m.zone) - (f.evidence ->> 'since')::date > ${reconcile.transitDays}
        and (f.evidence ->> 'material')::boolean
      order by f.evidence ->> 'since', f.finding_id`,
  )
  return byBook(
    rows.map(({ bookId, check, id, message }): Blocker & { readonly bookId: number } => ({
      ...{ bookId, id, check },
      what: `${check}: ${message}`,
      hint: `tieout explain ${id}`,
    })),
  )
})
