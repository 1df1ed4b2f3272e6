/**
 * Reservations about a receivable's interest. The service states interest without saying since when, so an accrual is dated
 * by the service's time of the read: a loan of August that was first read in November has its interest in November. And a
 * repayment that no single transaction explains is split into principal and interest by estimate.
 */
import { Effect } from "effect"
import { printedSum } from "../../Common/AmountText.ts"
import { counted } from "../../Common/Text.ts"
import type { Sql } from "../../Database/Client.ts"
import { int4, nullable, type RowOf, text } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import type { Fragment } from "../../Reconcile/ReconcileScope.ts"
import { type ReportScope, recordedBy } from "../ReportScope.ts"

/** The books' balance of each receivable at the end of the month, zero balances included. Owed is positive. */
export const heldReceivables = (sql: Sql, scope: ReportScope): Fragment => sql`
  select j.source_id, p.currency,
    sum(case a.role when 'receivable_principal' then p.amount when 'loan_payable' then -p.amount else 0 end) as principal,
    sum(case a.role when 'receivable_interest' then p.amount when 'interest_payable' then -p.amount else 0 end) as interest
  from ledger.accounts a
  join ledger.postings p on p.book_id = a.book_id and p.account_id = a.account_id
  join ledger.journal_entries j on j.book_id = p.book_id and j.entry_id = p.entry_id
  where a.book_id = ${scope.book.bookId}
    and a.role in ('receivable_principal', 'receivable_interest', 'loan_payable', 'interest_payable')
    and j.period <= ${scope.first}::text::date and ${recordedBy(sql, scope, sql`j.recorded_at`)}
  group by j.source_id, p.currency`

/**
 * For one receivable `id`: `known_from`, the day of its first accrual if that is after the month, and `estimated`, whether a
 * repayment up to the month's end is split by estimate and not corrected since.
 */
export const reserves = (sql: Sql, scope: ReportScope, id: Fragment): Fragment => {
  const first = sql`${scope.first}::text::date`
  return sql`(
    select case when min(j.period) filter (where j.kind = 'accrual') > ${first}
        then min(j.effective_date) filter (where j.kind = 'accrual') end as known_from,
      coalesce(bool_or(j.kind = 'repayment' and j.period <= ${first} and j.description like '%(estimated)'
        and not exists (
          select 1 from ledger.journal_entries c
          where c.book_id = j.book_id and c.source_id = j.source_id and c.source_type = j.source_type
            and c.sequence = j.sequence and c.correction > 0
            and ${recordedBy(sql, scope, sql`c.recorded_at`)})), false) as estimated
    from ledger.journal_entries j
    where j.book_id = ${scope.book.bookId} and j.source_id = ${id} and j.source_type = 'receivable_version'
      and ${recordedBy(sql, scope, sql`j.recorded_at`)})`
}

export const reserveText = (knownFrom: string | null, estimated: boolean): string | null => {
  const interest = knownFrom === null ? [] : [`interest is known from ${knownFrom} on`]
  const all = [...interest, ...(estimated ? ["repayment split estimated"] : [])]
  return all.length === 0 ? null : all.join("; ")
}

const reservedColumns = {
  currency: text,
  late: int4,
  knownFrom: nullable(text),
  amount: text,
  estimated: int4,
}

/** Per currency: the number of receivables, and the sum of their first accruals, major unit, positive where owed. */
export type Reserved = RowOf<typeof reservedColumns>

/** Over all receivables in the books at the end of the month. */
export const readReserved = Effect.fn("Report.reserved")(function* (scope: ReportScope) {
  const database = yield* Database
  return yield* database.rows(
    "Report.reserved",
    reservedColumns,
    (sql) => sql`
      with held as (${heldReceivables(sql, scope)})
      select h.currency, count(r.known_from)::integer as late, min(r.known_from)::text as "knownFrom",
        coalesce(sum(f.amount), 0)::text as amount, (count(*) filter (where r.estimated))::integer as estimated
      from held h
      cross join lateral ${reserves(sql, scope, sql`h.source_id`)} r
      left join lateral (
        select sum(case a.role when 'receivable_interest' then p.amount else -p.amount end) as amount
        from ledger.journal_entries j
        join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
        join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
          and a.role in ('receivable_interest', 'interest_payable')
        where j.book_id = ${scope.book.bookId} and j.source_id = h.source_id and j.source_type = 'receivable_version'
          and j.kind = 'accrual' and j.effective_date = r.known_from
          and ${recordedBy(sql, scope, sql`j.recorded_at`)}) f on true
      where (h.principal <> 0 or h.interest <> 0) and (r.known_from is not null or r.estimated)
      group by h.currency order by h.currency collate "C"`,
  )
})

/** One sentence per reservation; empty where there is none. */
export const reservedText = (reserved: ReadonlyArray<Reserved>): string => {
  const late = reserved.filter((one) => one.late > 0)
  const count = (kind: "late" | "estimated") =>
    counted(
      reserved.reduce((sum, one) => sum + one[kind], 0),
      "receivable",
    )
  const sums = late.map(
    ({ amount, currency, knownFrom }) => `${printedSum(amount, currency)} from ${knownFrom} on`,
  )
  return [
    ...(late.length === 0
      ? []
      : [
          `The interest of ${count("late")} became known after the month and is dated when it did: ${sums.join(", ")}. The service does not say what part of it belongs to the month.`,
        ]),
    ...(reserved.every(({ estimated }) => estimated === 0)
      ? []
      : [`The repayments of ${count("estimated")} are split into principal and interest by estimate.`]),
  ].join(" ")
}
