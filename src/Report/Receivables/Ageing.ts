/**
 * `receivables-ageing.csv`: the books' balance of each receivable at the end of the month, by days since its issue. The
 * interface states no due date and no overdue status, so the age counts from `issueDate`. The totals are the balances of the
 * principal and interest accounts. The status is the service's last before the month's end, or else its first after.
 * `remark`: interest that became known later, or is estimated.
 */
import { Effect, Stream } from "effect"
import { printed } from "../../Common/AmountText.ts"
import type { Sql } from "../../Database/Client.ts"
import { bool, int4, nullable, type RowOf, text, uuid } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import { instantText } from "../../Reconcile/ReconcileScope.ts"
import { type ReportScope, recordedBy } from "../ReportScope.ts"
import type { Row } from "../Sheet.ts"
import { heldReceivables, reserves, reserveText } from "./ReceivableInterest.ts"

export const ageingSheet = {
  name: "receivables-ageing.csv",
  columns: {
    receivable: "text",
    client: "text",
    currency: "text",
    issue_date: "text",
    age_days: "figure",
    initial_principal: "figure",
    principal: "figure",
    interest: "figure",
    outstanding: "figure",
    days_0_30: "figure",
    days_31_60: "figure",
    days_61_90: "figure",
    days_over_90: "figure",
    status: "text",
    status_told_at: "text",
    remark: "text",
  },
} as const

export type AgeingRow = Row<typeof ageingSheet.columns>

const foundColumns = {
  id: uuid,
  /** Its name, or its identifier where the list of clients does not have it. */
  client: nullable(text),
  currency: text,
  issued: nullable(text),
  age: nullable(int4),
  initial: nullable(text),
  principal: text,
  interest: text,
  outstanding: text,
  status: nullable(text),
  toldAt: nullable(text),
  knownFrom: nullable(text),
  estimated: bool,
}

type Found = RowOf<typeof foundColumns>

const receivables = (sql: Sql, scope: ReportScope) => sql`
  with held as (${heldReceivables(sql, scope)}),
  told as (
    select h.*, v.issue_date, v.initial_principal, v.status, v.served_at, v.client_id, v.book_id,
      least(${scope.last}::text::date, ledger.day_of(coalesce(${scope.asOf}::text::timestamptz, now()), ${scope.month.timeZone}::text))
        - ledger.day_of(v.issue_date, ${scope.month.timeZone}::text) as age
    from held h
    left join lateral (
      select v.* from mirror.receivables v
      where v.receivable_id = h.source_id and ${recordedBy(sql, scope, sql`v.read_at`)}
        and v.book_id in (select b.book_id from mirror.books b where b.connection = ${scope.book.connection})
      order by v.served_at >= ${scope.month.end}::text::timestamptz,
        case when v.served_at >= ${scope.month.end}::text::timestamptz then v.version else -v.version end
      limit 1) v on true
    where h.principal <> 0 or h.interest <> 0)
  select t.source_id as id, coalesce(c.label, t.client_id::text) as client, t.currency,
    ledger.day_of(t.issue_date, ${scope.month.timeZone}::text)::text as issued, t.age::integer as age,
    t.initial_principal::text as initial, t.principal::text as principal, t.interest::text as interest,
    (t.principal + t.interest)::text as outstanding, t.status, ${instantText(sql, sql`t.served_at`)} as "toldAt",
    r.known_from::text as "knownFrom", r.estimated
  from told t
  cross join lateral ${reserves(sql, scope, sql`t.source_id`)} r
  left join mirror.reference_items c on c.book_id = t.book_id and c.kind = 'client' and c.item_id = t.client_id::text
    and c.current
  order by t.currency collate "C", t.age desc nulls last, t.source_id`

const buckets = ["days_0_30", "days_31_60", "days_61_90", "days_over_90"] as const

/** A receivable issued after the month's end has a bucket, too, since its entries may be dated before. */
export const bucketOf = (age: number): (typeof buckets)[number] =>
  age <= 30 ? "days_0_30" : age <= 60 ? "days_31_60" : age <= 90 ? "days_61_90" : "days_over_90"

const rowOf = (found: Found): AgeingRow => {
  const { age, currency } = found
  const outstanding = printed(found.outstanding, currency)
  const inBucket = (bucket: (typeof buckets)[number]) =>
    age !== null && bucketOf(age) === bucket ? outstanding : null
  return {
    receivable: found.id,
    client: found.client,
    currency,
    issue_date: found.issued,
    age_days: age === null ? null : String(age),
    initial_principal: found.initial === null ? null : printed(found.initial, currency),
    principal: printed(found.principal, currency),
    interest: printed(found.interest, currency),
    outstanding,
    days_0_30: inBucket("days_0_30"),
    days_31_60: inBucket("days_31_60"),
    days_61_90: inBucket("days_61_90"),
    days_over_90: inBucket("days_over_90"),
    status: found.status,
    status_told_at: found.toldAt,
    remark: reserveText(found.knownFrom, found.estimated),
  }
}

export const ageingRows = (scope: ReportScope) =>
  Stream.unwrap(
    Effect.map(Database, (database) =>
      database
        .rowStream("Report.ageing", foundColumns, (sql) => receivables(sql, scope))
        .pipe(
          Stream.chunks,
          Stream.map((chunk) => [...chunk].map(rowOf)),
        ),
    ),
  )
