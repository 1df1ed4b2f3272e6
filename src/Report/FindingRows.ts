/** Findings of the month that were open at the report's time, and what stood in quarantine then. */
import { and, count, eq, gt, isNull, lte, min, or } from "drizzle-orm"
import { Effect } from "effect"
import { isClosed } from "../Close/Month.ts"
import type { Sql } from "../Database/Client.ts"
import { bool, nullable, oneOf, type RowOf, text, uuid } from "../Database/Columns.ts"
import { isoText } from "../Database/Tables/ColumnTypes.ts"
import { quarantine } from "../Database/Tables/Mirror.ts"
import { Database } from "../Database.ts"
import { instantText } from "../Reconcile/ReconcileScope.ts"
import { type ReportScope, recordedBy, resourcesOf } from "./ReportScope.ts"

const findingColumns = {
  /** `F12` */
  id: text,
  check: text,
  severity: oneOf("warning", "blocking"),
  subject: text,
  message: text,
  /** As in an acceptance for good: `Accepted.evidence`. */
  evidence: text,
  openedAt: text,
  /** Whether its evidence has a date, and so a month. */
  dated: bool,
  /** The day that it is about, in the book's time zone. */
  date: nullable(text),
  /** The amount that it is about, if that is one amount. */
  currency: nullable(text),
  amount: nullable(text),
}

export type Finding = RowOf<typeof findingColumns>

export interface Quarantined {
  readonly stream: string
  readonly rows: number
  readonly since: string
}

/**
 * The findings of the month, what has stood in transit since, and what belongs to no month, blocking ones first. While the month
 * is open, or was then, a blocking finding of any other month stands in the way of its close as well.
 */
export const readFindings = Effect.fn("Report.findings")(function* (scope: ReportScope) {
  const database = yield* Database
  const { asOf, book, first, month, period } = scope
  const wasOpen = (sql: Sql) => sql`not exists (
    select 1 from ledger.standing_closes(${book.bookId}, ${asOf}::text::timestamptz) c where c.period >= ${first}::text::date)`
  return yield* database.rows(
    "Report.findings",
    findingColumns,
    (sql) => sql`
      select 'F' || f.finding_id as id, f.check_name as check, f.severity, f.subject_id as subject, f.message,
        md5(f.evidence::text) as evidence, ${instantText(sql, sql`f.opened_at`)} as "openedAt", x.month is not null as dated, x.day::text as date, x.currency, x.amount
      from reconcile.findings_open_at(coalesce(${asOf}::text::timestamptz, 'infinity')) f
      cross join lateral reconcile.facts_of(f.evidence, ${month.timeZone}::text) x
      where f.book_id = ${book.bookId} and (reconcile.is_of_month(f.evidence, ${month.timeZone}::text, ${period}::text)
        or ${asOf === null ? !isClosed(month) : wasOpen(sql)} and f.severity = 'blocking')
      order by f.severity, coalesce(x.day, ledger.day_of(f.opened_at, ${month.timeZone}::text)), f.finding_id`,
  )
})

export const readQuarantine = Effect.fn("Report.quarantine")(function* (scope: ReportScope) {
  const database = yield* Database
  const { asOf, book } = scope
  const { bookId, firstSeenAt, resolvedAt, stream } = quarantine
  const rows: ReadonlyArray<Quarantined> = yield* database.orm("Report.quarantine", (orm) =>
    orm
      .select({ stream, rows: count(), since: isoText(min(firstSeenAt)) })
      .from(quarantine)
      .where(
        and(
          eq(bookId, book.bookId),
          asOf === null
            ? isNull(resolvedAt)
            : and(lte(firstSeenAt, asOf), or(isNull(resolvedAt), gt(resolvedAt, asOf))),
        ),
      )
      .groupBy(stream)
      .orderBy(stream),
  )
  return rows
})

const unsettledItemColumns = {
  resourceType: text,
  resourceId: uuid,
  status: text,
  account: text,
  currency: text,
  amount: text,
  day: text,
}

export type UnsettledItem = RowOf<typeof unsettledItemColumns>

/** Movements whose money is in the books up to the month's end though the service has not completed them. */
export const readUnsettled = Effect.fn("Report.unsettled")(function* (scope: ReportScope) {
  const database = yield* Database
  const { book, first } = scope
  return yield* database.rows(
    "Report.unsettled",
    unsettledItemColumns,
    (sql) => sql`
      select r.resource_type as "resourceType", r.resource_id as "resourceId", r.status, a.code as account, p.currency,
        sum(p.amount)::text as amount, min(j.effective_date)::text as day
      from ${resourcesOf(sql, scope)} r
      join mirror.statement_entries e on e.book_id = r.book_id and e.related_id = r.resource_id
        and e.related_type = r.resource_type and not e.held
      join ledger.journal_entries j on j.book_id = e.book_id and j.source_id = e.entry_id
        and j.source_type = 'statement_entry' and j.period <= ${first}::text::date and ${recordedBy(sql, scope, sql`j.recorded_at`)}
      join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
      join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
        and a.role in ('deposits_clearing', 'withdrawals_clearing', 'payouts_clearing', 'conversions_in_transit',
          'trading', 'other')
      where r.book_id = ${book.bookId} and not r.final
      group by r.resource_type, r.resource_id, r.status, a.code, p.currency having sum(p.amount) <> 0
      order by 7, r.resource_id, p.currency`,
  )
})
