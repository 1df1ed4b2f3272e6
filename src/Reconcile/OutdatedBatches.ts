/** Standing batches of the base-currency journal that are out of date: one of their months was valued again since. */
import { Effect } from "effect"
import { isIn } from "../Book/ByBook.ts"
import type { Sql } from "../Database/Client.ts"
import { arrayOf, bool, int4, type RowOf, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { nativeBasis } from "../Format/Entry.ts"

const outdatedBatchColumns = {
  bookId: int4,
  batch: int4,
  scope: text,
  formats: arrayOf(text),
  /** The months that changed, `YYYY-MM`, the earliest first. */
  months: arrayOf(text),
  /** Written with rates, and written again so. */
  rated: bool,
}

export type OutdatedBatch = RowOf<typeof outdatedBatchColumns>

/**
 * The months (`period`) that changed since a batch `b` of `export.standing_batches` was written. A month changed if it was
 * valued again, if the batch covers its days but was written before it was valued, if it has entries that are not valued yet,
 * or if the month before it was valued again. The last two count up to the batch's last day.
 */
export const changedMonths = (sql: Sql) => sql`
  select w.period from (
    select (y.period || '-01')::date as period, y.fingerprint
    from json_to_recordset(b.manifest #> '{base,months}') as y (period text, fingerprint text)) w
  left join valuation.months m on m.book_id = b.book_id and m.period = w.period
  where m.fingerprint is distinct from w.fingerprint
  union
  select m.period from valuation.months m
  where m.book_id = b.book_id and m.period between date_trunc('month', b.from_date::timestamp)::date and b.to_date
    and not exists (
      select 1 from json_to_recordset(b.manifest #> '{base,months}') as y (period text)
      where y.period = to_char(m.period, 'YYYY-MM'))
  union
  select l.period from ledger.periods l
  left join valuation.months m on m.book_id = l.book_id and m.period = l.period
  where l.book_id = b.book_id and l.last_number > coalesce(m.through_number, 0)
    and l.period <= b.last_day
  union
  select m.period from valuation.months m
  left join valuation.months p on p.book_id = m.book_id and p.period = (m.period - interval '1 month')::date
  where m.book_id = b.book_id and m.previous <> coalesce(p.fingerprint, '') and m.period <= b.last_day`

/** Compares with the current valuation: new rates count once the book is valued with them. */
export const outdatedBatches = Effect.fn("Export.outdatedBatches")(function* (
  bookIds: ReadonlyArray<number>,
) {
  const database = yield* Database
  return yield* database.rows(
    "Export.outdatedBatches",
    outdatedBatchColumns,
    (sql) => sql`
      select b.book_id as "bookId", b.batch, b.scope, b.formats, x.months,
        coalesce(b.manifest #>> '{tables,rated}', '') = 'true' as rated
      from export.standing_batches b
      cross join lateral (
        select array_agg(to_char(c.period, 'YYYY-MM') order by c.period) as months
        from (${changedMonths(sql)}) c) x
      where b.book_id ${isIn(sql, bookIds)} and b.currency_basis <> ${nativeBasis} and x.months is not null
      order by b.book_id, b.batch`,
  )
})
