/** A closed month and the months after it keep one valuation method; the settings must name the same. */
import type { Sql } from "../../Database/Client.ts"
import type { CheckQuery } from "../Findings.ts"
import { closedMethods, otherMethod } from "../OtherMethod.ts"
import { type Fragment, inBooks, type Scope } from "../ReconcileScope.ts"

/** The messages as templates for SQL `format`. */
const [message, ofArchived] = [false, true].map((archived) =>
  otherMethod({ book: "%1$s", closed: "%2$s", method: "%3$s", period: "%4$s", archived }),
)

const found = (sql: Sql, scope: Scope): Fragment => sql`
  select 'valuation-method' as check_name, f.book_id, 'book' as subject_type, f.code as subject_id, true as ripe,
    format(case when f.archived then ${ofArchived}::text else ${message}::text end, f.code, f.closed, f.method, f.first) as message,
    jsonb_build_object('closed', f.closed, 'method', f.method, 'first', f.first, 'months', f.months) as evidence
  from (
    select b.book_id, b.code, s.method, (array_agg(m.method order by m.period))[1] as closed,
      to_char(min(m.period), 'YYYY-MM') as first, count(*) as months,
      exists (select 1 from ledger.archives a where a.book_id = b.book_id and a.through >= min(m.period)) as archived
    from mirror.books b
    cross join lateral (
      select coalesce(${JSON.stringify(scope.methods.books)}::text::json -> b.code ->> 'method', ${scope.methods.general}::text)
        as method) s
    join (${closedMethods(sql)}) m on m.book_id = b.book_id and m.method <> s.method
    where b.book_id = ${inBooks(sql, scope)}
      and exists (select 1 from valuation.settings v where v.book_id = b.book_id)
    group by b.book_id, b.code, s.method) f`

export const valuationMethod: CheckQuery = {
  checks: ["valuation-method"],
  found,
  mayFind: ({ valued }) => valued,
}
