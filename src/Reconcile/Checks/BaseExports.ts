/**
 * Check 9, in the base currency: a standing batch was written from its months as they are valued now. An open month is valued
 * again when it changes, which makes its exports out of date; the check covers books with months valued since.
 */
import type { Sql } from "../../Database/Client.ts"
import { nativeBasis } from "../../Format/Entry.ts"
import type { CheckQuery } from "../Findings.ts"
import { changedMonths } from "../OutdatedBatches.ts"
import { type Fragment, inBooks, isEverything, openSubjects, type Scope } from "../ReconcileScope.ts"

/** A month that was being valued during the last reconciliation may carry an earlier time. */
const overlap = "1 day"

/** The first month of each book that was valued since, or that has entries not valued yet. */
const changed = (sql: Sql, scope: Scope): Fragment => sql`
  select m.book_id, min(m.period) as first
  from (
    select v.book_id, v.period from valuation.months v
    join reconcile.progress g on g.book_id = v.book_id
    where v.book_id = ${inBooks(sql, scope)} and v.valued_at > g.reconciled_at - ${overlap}::text::interval
    union all
    select v.book_id, v.period from valuation.months v
    join ledger.periods l on l.book_id = v.book_id and l.period = v.period
    where v.book_id = ${inBooks(sql, scope)} and l.last_number > v.through_number) m
  group by m.book_id`

const found = (sql: Sql, scope: Scope): Fragment => sql`
  with changed as materialized (${changed(sql, scope)}),
  batches as materialized (
    select b.book_id, b.batch, b.scope, b.currency_basis, b.from_date, b.to_date, b.last_day, b.manifest, b.formats, k.code
    from export.standing_batches b
    join mirror.books k on k.book_id = b.book_id
    left join changed c on c.book_id = b.book_id
    where b.book_id = ${inBooks(sql, scope)} and b.currency_basis <> ${nativeBasis} and (
        ${isEverything(scope)} or b.scope = ${scope.period}::text
        or coalesce(b.to_date, 'infinity') >= c.first
        or (b.book_id, b.batch::text) in (
          select o.book_id, o.subject_id from (${openSubjects(sql, scope, "base-exports")}) o)))
  select 'base-exports' as check_name, b.book_id, 'batch' as subject_type, b.batch::text as subject_id, true as ripe,
    format('Export batch %s/%s (%s of %s, %s) is out of date, %s changed since: export it again with %s --again.', b.code, b.batch,
      array_to_string(b.formats, ', '), b.scope,
      b.currency_basis || case when b.manifest #>> '{tables,rated}' = 'true' then ' with rates' else '' end,
      array_to_string(x.months, ', '),
      case when b.manifest #>> '{tables,rated}' = 'true' then '--with-rates' else '--base' end) as message,
    jsonb_build_object('scope', b.scope, 'months', x.months) as evidence
  from batches b
  cross join lateral (
    select array_agg(to_char(m.period, 'YYYY-MM') order by m.period) as months from (${changedMonths(sql)}) m) x
  where x.months is not null`

export const baseExports: CheckQuery = { checks: ["base-exports"], found, mayFind: ({ batches }) => batches }
