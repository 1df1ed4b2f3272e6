/**
 * Check 10, for conversions: what stands in transit is an open item with an age. Only a warning; `src/Close/InTransit.ts`
 * decides whether it blocks the close of a month.
 */
import type { Sql } from "../../Database/Client.ts"
import type { CheckQuery } from "../Findings.ts"
import { type Fragment, inBooks, type Scope, sumText } from "../ReconcileScope.ts"

/** Reads open items alone, however many conversions there have been. One that waits for the numbering step is not open yet. */
const found = (sql: Sql, scope: Scope): Fragment => sql`
  select 'conversion-in-transit' as check_name, t.book_id, 'conversion' as subject_type,
    t.conversion_id::text as subject_id,
    not exists (
      select 1 from ledger.touched_conversions w
      where w.book_id = t.book_id and w.conversion_id = t.conversion_id) as ripe,
    format('The conversion has stood in transit since %s (%s days%s): %s.', t.since, t.age,
      coalesce(', ' || mirror.lower_ascii(t.status), ''), t.sums) as message,
    jsonb_build_object('since', t.since, 'last', t.last, 'days', t.age, 'status', t.status, 'material', t.material,
      'items', t.items) as evidence
  from (
    select v.book_id, v.conversion_id, min(v.first_date) as since, max(v.last_date) as last, max(v.status) as status,
      ledger.day_of(now(), max(l.time_zone)) - min(v.first_date) as age,
      string_agg(${sumText(sql, sql`v.amount`, sql`v.currency`)}, ' and ' order by v.amount < 0, v.currency) as sums,
      jsonb_agg(jsonb_build_object('currency', v.currency, 'amount', v.amount::text) order by v.currency) as items,
      bool_or(abs(v.amount) > coalesce(
        (${JSON.stringify(scope.materiality)}::text::json ->> v.currency)::numeric, 0)) as material
    from reconcile.conversions_in_transit v
    join ledger.locks l on l.book_id = v.book_id
    where v.book_id = ${inBooks(sql, scope)}
    group by v.book_id, v.conversion_id) t`

export const conversionsInTransit: CheckQuery = {
  checks: ["conversion-in-transit"],
  found,
  mayFind: ({ transit }) => transit,
}
