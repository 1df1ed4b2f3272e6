/**
 * Conversions in transit and loans whose cash has not come: a warning in the reconciliation, a blocker of a close where they
 * are old and material.
 */
import { Effect } from "effect"
import { text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { Settings } from "../Settings.ts"
import type { Blocker } from "./Gate.ts"
import type { Month } from "./Month.ts"

/**
 * Items of the month or before (a conversion is dated by its first entry) that are now older than `reconcile.transitDays` and
 * above `reconcile.materiality`. The month has just been reconciled. Part of the caller's transaction.
 */
export const blockersInTransit = Effect.fn("Close.inTransit")(function* ({ book, period, timeZone }: Month) {
  const database = yield* Database
  const { reconcile } = yield* Settings
  const rows = yield* database.rows(
    "Close.inTransit",
    { id: text, check: text, message: text },
    (sql) => sql`
      select 'F' || f.finding_id as id, f.check_name as check, f.message from reconcile.open_findings f
      where f.book_id = ${book.bookId} and f.check_name in ('conversion-in-transit', 'loan-in-transit')
        and (f.evidence ->> 'since')::date < (${`${period}-01`}::text::date + interval '1 month')
        and (now() at time zone ${timeZone}::text)::date - (f.evidence ->> 'since')::date > ${reconcile.transitDays}
        and (f.evidence ->> 'material')::boolean
      order by f.evidence ->> 'since', f.finding_id`,
  )
  return rows.map(
    ({ check, id, message }): Blocker => ({
      id,
      what: `${check}: ${message}`,
      hint: `tieout explain ${id}`,
    }),
  )
})
