/** How a journal's entries are read: by number for one book or several, by date for one. */
import { isIn } from "../../Book/ByBook.ts"
import type { Sql } from "../../Database/Client.ts"
import { int4, int8, nullable, oneOf, type RowOf, text } from "../../Database/Columns.ts"
import type { Selection } from "../Request/ExportScope.ts"
import { selected } from "../Request/Selected.ts"
import { type JournalName, journalView } from "./JournalViews.ts"

/** Entries that only the base-currency journal has are numbered separately. */
export const series = oneOf("journal", "fx")
export type Series = RowOf<{ readonly series: typeof series }>["series"]

/** What the database says of an entry, everything already text. */
export const entryColumns = {
  bookId: int4,
  series,
  period: text,
  number: int4,
  numbering: nullable(int8),
  effective_date: text,
  occurred_at: text,
  recorded_at: text,
  recorded_on: text,
  kind: text,
  description: text,
  source_type: text,
  source_id: text,
  resource_type: nullable(text),
  resource_id: nullable(text),
  external_reference: nullable(text),
  counterparty: nullable(text),
  late_for: nullable(text),
  reverses_period: nullable(text),
  reverses_number: nullable(int4),
  lines: nullable(text),
  natives: nullable(text),
  payment_reference: nullable(text),
  payment_purpose: nullable(text),
  transaction_hash: nullable(text),
}
export type EntryRow = RowOf<typeof entryColumns>

/** Text made by the server, so that nothing is parsed into a Date and printed again. */
const columns = (sql: Sql) => sql`
  e.book_id as "bookId", e.series, to_char(e.period, 'YYYY-MM') as period, e.number, e.numbering, e.effective_date::text as effective_date,
  to_char(e.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as occurred_at,
  to_char(e.recorded_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as recorded_at,
  (select ledger.day_of(e.recorded_at, coalesce(l.time_zone, 'UTC')) from ledger.locks l where l.book_id = e.book_id)::text as recorded_on,
  e.kind, e.description, e.source_type, coalesce(e.source_id::text, '') as source_id, e.resource_type,
  e.resource_id, e.external_reference, e.counterparty, to_char(e.late_for, 'YYYY-MM') as late_for,
  to_char(e.reverses_period, 'YYYY-MM') as reverses_period, e.reverses_number, e.lines, e.natives`

/** What the service says now about the payment behind an entry: not part of the books, and unknown for an as-of export. */
const payments = (sql: Sql, wanted: boolean) =>
  wanted
    ? {
        columns: sql`
          case when r.form is distinct from 'flat' then r.reference end as payment_reference,
          case when r.form = 'flat' then r.reference end as payment_purpose, r.transaction_hash`,
        join: sql`
          left join lateral (
            select p.form, p.reference, p.transaction_hash from mirror.resources p
            where p.book_id = e.book_id and p.resource_id = e.resource_id::uuid and p.resource_type = e.resource_type
            limit 1) r on true`,
      }
    : {
        columns: sql`null::text as payment_reference, null::text as payment_purpose, null::text as transaction_hash`,
        join: sql``,
      }

/** The books' own numbers come before the other series, in each period. Several books come one after the other. */
export const byNumber = (
  sql: Sql,
  bookIds: ReadonlyArray<number>,
  journal: JournalName,
  selection: Selection,
  withPayments: boolean,
) => sql`
  select ${columns(sql)}, ${payments(sql, withPayments).columns} from ${journalView(sql, journal, "journal")} e
  ${payments(sql, withPayments).join}
  where ${selected(sql, isIn(sql, bookIds), selection)}
  order by e.book_id, e.period, e.series = 'fx', e.number`

// Only keys are sorted; the rest is looked up afterwards, in that order: of each on its own, whatever the planner believes.
export const byDate = (
  sql: Sql,
  bookId: number,
  journal: JournalName,
  selection: Selection,
  withPayments = false,
) => sql`
  select ${columns(sql)}, ${payments(sql, withPayments).columns}
  from (
    select e.period, e.series, e.number, e.effective_date, e.place from ${journalView(sql, journal, "journal")} e
    where ${selected(sql, isIn(sql, [bookId]), selection)}
    order by e.effective_date, e.place) k
  cross join lateral (
    select * from ${journalView(sql, journal, "journal")} e
    where e.book_id = ${bookId} and e.period = k.period and e.series = k.series and e.number = k.number
    limit 1) e
  ${payments(sql, withPayments).join}
  order by k.effective_date, k.place`
