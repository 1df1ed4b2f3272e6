/** Open findings with the identifier for `tieout explain`, and counts of what is open. */
import { Effect, Option } from "effect"
import type { Book } from "../Book.ts"
import { printedSum } from "../Common/AmountText.ts"
import { bool, int4, int8, nullable, oneOf, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import type { Severity } from "./Check.ts"

export interface OpenFinding {
  /** `F12`. */
  readonly findingId: string
  readonly check: string
  readonly severity: Severity
  /** The book's code. */
  readonly book: string
  readonly message: string
  /** The identifier for `tieout explain`: the subject's, or else the finding's own. */
  readonly subject: string
  /** ISO 8601, our clock. */
  readonly openedAt: string
  /** The day in the book's time zone that it is about; null if it is not about one day. */
  readonly date: string | null
  /** The service's account that it is about, and the amount with its currency, `12.50 EUR`. */
  readonly accountId: string | null
  readonly amount: string | null
  /** Its age in days: since its date, or else since it was found. */
  readonly days: number
  /** The month of the close that accepted it for good, `2026-10`; null: it waits for a person. */
  readonly acceptedAt: string | null
}

/** Counts of what waits for a person, the same in every command. */
export interface OpenCounts {
  /** Without those that a close accepted for good. */
  readonly blockingFindings: number
  readonly warnings: number
  /** Rows in quarantine, without those whose finding a close accepted for good. */
  readonly quarantined: number
}

const amountOf = (amount: string | null, currency: string | null): string | null =>
  amount === null || currency === null ? null : printedSum(amount, currency)

const idsOf = (books: ReadonlyArray<Book>): string => `{${books.map(({ bookId }) => bookId).join(",")}}`

/**
 * Open findings, blocking ones first, then by age, the oldest first. With a month (`2026-10`, in the book's time zone): the findings of
 * that month, and those that belong to no month.
 */
export const openFindings = Effect.fn("Reconcile.openFindings")(function* (
  books: ReadonlyArray<Book>,
  period: Option.Option<string>,
) {
  const database = yield* Database
  const month = Option.getOrNull(period)
  const rows = yield* database.rows(
    "Reconcile.openFindings",
    {
      finding_id: int8,
      check_name: text,
      severity: oneOf("warning", "blocking"),
      code: text,
      message: text,
      explainable: bool,
      subject_id: text,
      opened_at: text,
      date: nullable(text),
      account_id: nullable(text),
      amount: nullable(text),
      currency: nullable(text),
      days: int4,
      accepted_at: nullable(text),
    },
    (sql) => sql`
      select f.finding_id, f.check_name, f.severity, b.code, f.message, f.subject_id,
        f.subject_type in ('account', 'statement_entry', 'deposit', 'withdrawal', 'conversion') as explainable,
        to_char(f.opened_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as opened_at,
        x.day::text as date,
        -- The evidence about an account of the books has that one's number.
        coalesce(mirror.uuid_or_null(f.evidence ->> 'accountId')::text,
          case f.subject_type when 'account' then f.subject_id end) as account_id,
        x.amount, x.currency, (ledger.day_of(now(), l.time_zone) - coalesce(x.day, ledger.day_of(f.opened_at, l.time_zone))) as days,
        -- Put together once: a join might compare each finding with all that a close accepted.
        (select jsonb_object_agg(k.finding_id, to_char(k.period, 'YYYY-MM')) from reconcile.accepted_findings k
          where k.book_id = any (${idsOf(books)}::integer[])) ->> f.finding_id::text as accepted_at
      from reconcile.open_findings f join mirror.books b on b.book_id = f.book_id
      join ledger.locks l on l.book_id = f.book_id
      cross join lateral reconcile.facts_of(f.evidence, l.time_zone) x
      where f.book_id = any (${idsOf(books)}::integer[])
        and (${month}::text is null or reconcile.is_of_month(f.evidence, l.time_zone, ${month}::text))
      order by f.severity, coalesce(x.day, ledger.day_of(f.opened_at, l.time_zone)), b.code collate "C", f.finding_id`,
  )
  return rows.map(
    (row): OpenFinding => ({
      findingId: `F${row.finding_id}`,
      check: row.check_name,
      severity: row.severity,
      book: row.code,
      message: row.message,
      subject: row.explainable ? row.subject_id : `F${row.finding_id}`,
      openedAt: row.opened_at,
      date: row.date,
      accountId: row.account_id,
      amount: amountOf(row.amount, row.currency),
      days: row.days,
      acceptedAt: row.accepted_at,
    }),
  )
})

/** By the book's identifier; a book with nothing open is left out. */
export const openCountsOf = Effect.fn("Reconcile.openCounts")(function* (books: ReadonlyArray<Book>) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Reconcile.openCounts",
    { book_id: int4, blocking: int4, warnings: int4, quarantined: int4 },
    (sql) => sql`
      with answered as materialized (
        select k.book_id, k.check_name, k.subject_id from reconcile.accepted_findings k
        where k.book_id = any (${idsOf(books)}::integer[]))
      select o.book_id, (count(*) filter (where o.kind = 'blocking') - count(*) filter (where o.kind = 'accepted'))::integer as blocking,
        count(*) filter (where o.kind = 'warning')::integer as warnings,
        count(*) filter (where o.kind = 'quarantined')::integer as quarantined
      from (
        select f.book_id, f.severity as kind from reconcile.open_findings f
        where f.book_id = any (${idsOf(books)}::integer[])
        union all
        select a.book_id, 'accepted' from answered a
        union all
        select q.book_id, 'quarantined' from mirror.open_quarantine q
        -- NOT IN uses a hash table in any session.
        where q.book_id = any (${idsOf(books)}::integer[]) and (q.book_id, q.stream) not in (
          select a.book_id, a.subject_id from answered a where a.check_name = 'quarantine')) o
      group by o.book_id`,
  )
  return new Map(
    rows.map(({ blocking, book_id: bookId, quarantined, warnings }) => [
      bookId,
      { blockingFindings: blocking, warnings, quarantined } satisfies OpenCounts,
    ]),
  )
})

/** Of all the books together. */
export const openCounts = Effect.fnUntraced(function* (books: ReadonlyArray<Book>) {
  const all = [...(yield* openCountsOf(books)).values()]
  const sum = (field: keyof OpenCounts) => all.reduce((total, counts) => total + counts[field], 0)
  return {
    blockingFindings: sum("blockingFindings"),
    warnings: sum("warnings"),
    quarantined: sum("quarantined"),
  } satisfies OpenCounts
})
