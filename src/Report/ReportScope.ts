/** The scope of a report: one book, one month, and optionally an as-of time. */

import { Effect } from "effect"
import type { Book } from "../Book.ts"
import { type Month, readMonth } from "../Close/Month.ts"
import { lastDayOf } from "../Common/Time.ts"
import type { Sql } from "../Database/Client.ts"
import type { Fragment } from "../Reconcile/ReconcileScope.ts"

export interface ReportScope {
  readonly book: Book
  /** `2026-10` */
  readonly period: string
  /** Its first day, `2026-10-01`. */
  readonly first: string
  /** Its last day. */
  readonly last: string
  readonly month: Month
  /** Only what was recorded up to this instant, ISO 8601 in UTC, our clock; null: all. */
  readonly asOf: string | null
}

export const scopeOf = Effect.fn("Report.scope")(function* (book: Book, period: string, asOf: string | null) {
  const month = yield* readMonth(book, period)
  return { book, period, first: `${period}-01`, last: lastDayOf(period), month, asOf } satisfies ReportScope
})

/** Whether something recorded at a point in time (our clock) belongs to the report. */
export const recordedBy = (sql: Sql, { asOf }: ReportScope, at: Fragment): Fragment =>
  asOf === null ? sql`true` : sql`${at} <= ${asOf}::text::timestamptz`

/**
 * The journal entries `j` of the month with their numbers `n`, by the index of numbers; entries without a number are
 * included. A condition may follow with `and`.
 */
export const entriesOfMonth = (sql: Sql, scope: ReportScope): Fragment => sql`
  (select i.entry_id, i.number from ledger.entry_numbers i
   where i.book_id = ${scope.book.bookId} and i.period = ${scope.first}::text::date) n
  join ledger.journal_entries j on j.book_id = ${scope.book.bookId} and j.entry_id = n.entry_id
    and ${recordedBy(sql, scope, sql`j.recorded_at`)}`

/**
 * The book's deposits, withdrawals and conversions as of the report's time, with their content then. One that was first read
 * later is left out. A version from before contents were stored separately shows the current content.
 */
export const resourcesOf = (sql: Sql, { asOf, book }: ReportScope): Fragment =>
  asOf === null
    ? sql`(select * from mirror.resources where book_id = ${book.bookId})`
    : sql`(
        select r.book_id, r.resource_type, r.resource_id, r.account_id, r.currency, r.buy_account_id, r.buy_currency, r.status, r.final, r.rate, r.fee_currency
        from mirror.resources r
        where r.book_id = ${book.bookId} and r.changed_at <= ${asOf}::text::timestamptz
        union all
        select r.book_id, r.resource_type, r.resource_id, r.account_id, r.currency, r.buy_account_id, r.buy_currency, coalesce(v.status, r.status),
          coalesce(v.final, r.final), case when v.status is null then r.rate else v.rate end,
          case when v.status is null then r.fee_currency else v.fee_currency end
        from mirror.resource_versions v
        join mirror.resources r on r.book_id = v.book_id and r.resource_id = v.resource_id
          and r.resource_type = v.resource_type
        where v.book_id = ${book.bookId} and v.changed_at <= ${asOf}::text::timestamptz
          and v.superseded_at > ${asOf}::text::timestamptz)`
