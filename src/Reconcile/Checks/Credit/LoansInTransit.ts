/**
 * Check 10, for loans: a leg whose cash has not come (`ledger.receivable_waits`) is an open item, and a finding once it is old
 * and material. Only a warning; `src/Close/InTransit.ts` decides whether it blocks the close of a month.
 */
import type { Sql } from "../../../Database/Client.ts"
import type { CheckQuery } from "../../Findings.ts"
import { agedAt, amountText, type Fragment, inBooks, type Scope, sumText } from "../../ReconcileScope.ts"

const found = (sql: Sql, scope: Scope): Fragment => sql`
  select 'loan-in-transit' as check_name, t.book_id, 'receivable' as subject_type,
    concat_ws(' ', t.receivable_id, t.purpose, t.version) as subject_id, true as ripe,
    format('No cash is known of the %s of receivable %s: %s since %s (%s days). It names %s.', t.purpose, t.receivable_id,
      ${sumText(sql, sql`t.amount`, sql`t.currency`)}, t.since, t.age,
      coalesce(nullif(array_to_string(t.tx_ids, ', '), ''), 'no transaction')) as message,
    jsonb_build_object('receivableId', t.receivable_id, 'purpose', t.purpose, 'currency', t.currency,
      'amount', ${amountText(sql, sql`t.amount`, sql`t.currency`)}, 'since', t.since, 'days', t.age, 'transactions', to_jsonb(t.tx_ids), 'material', true) as evidence
  from (
    select w.*, d.since, ledger.day_of(${agedAt(sql, scope, sql`w.book_id`)}, l.time_zone) - d.since as age
    from ledger.receivable_waits w
    join ledger.locks l on l.book_id = w.book_id
    cross join lateral (select ledger.day_of(w.occurred_at, l.time_zone) as since) d
    where w.book_id = ${inBooks(sql, scope)}) t
  where t.age > ${scope.transitDays}::integer
    and t.amount > coalesce((${JSON.stringify(scope.materiality)}::text::json ->> t.currency)::numeric, 0)`

export const loansInTransit: CheckQuery = {
  checks: ["loan-in-transit"],
  found,
  mayFind: ({ waits }) => waits,
}
