/**
 * Check 4: bought = (sold - sell-side fee) x rate - buy-side fee, within half of the rate's last digit x amount and one
 * minor unit of the buy currency: of a stablecoin whose amount has no more than six decimals, one of those, which its chain has.
 * Check 3 covers the two legs. The rate is only checked, never used.
 */
import type { Sql } from "../../Database/Client.ts"
import type { CheckQuery } from "../Findings.ts"
import { type Fragment, instantText, resourcesInScope, type Scope, sumText } from "../ReconcileScope.ts"

const found = (sql: Sql, scope: Scope): Fragment => sql`
  with quoted as (
    select r.*, (r.amount - r.sell_fee) * r.rate - r.buy_fee as expected,
      (r.amount - r.sell_fee) * power(10::numeric, -scale(r.rate)) / 2 + power(10::numeric,
        -least(coalesce(c.scale, 0), greatest(min_scale(r.buy_amount), 6))) as tolerance
    from (
      select r.book_id, r.resource_id, r.resource_type, r.amount, r.currency, r.buy_amount, r.buy_currency,
        r.buy_account_id, r.rate, r.fee, r.fee_currency, coalesce(r.completed_at, r.created_at) as occurred_at,
        case when r.fee_currency = r.currency then r.fee else 0 end as sell_fee,
        case when r.fee_currency = r.buy_currency and r.fee_currency <> r.currency then r.fee else 0 end as buy_fee
      from mirror.resources r
      where r.resource_type = 'CONVERSION' and r.status = 'COMPLETED'
        and ${resourcesInScope(sql, scope, "conversion-rate")}) r
    left join ledger.currencies c on c.code = r.buy_currency)
  select 'conversion-rate' as check_name, q.book_id, 'conversion' as subject_type, q.resource_id::text as subject_id,
    true as ripe,
    format('%s less a fee of %s at %s would buy %s; the conversion says %s, %s away where %s can be rounding.',
      ${sumText(sql, sql`q.amount`, sql`q.currency`)},
      ${sumText(sql, sql`q.fee`, sql`q.fee_currency`)}, q.rate,
      trim_scale(q.expected)::text || ' ' || q.buy_currency, ${sumText(sql, sql`q.buy_amount`, sql`q.buy_currency`)},
      trim_scale(abs(q.expected - q.buy_amount)), trim_scale(q.tolerance)) as message,
    jsonb_build_object('sold', q.amount::text, 'currency', q.currency, 'fee', q.fee::text, 'feeCurrency', q.fee_currency,
      'rate', q.rate::text, 'bought', q.buy_amount::text, 'buyCurrency', q.buy_currency,
      'expected', trim_scale(q.expected)::text, 'difference', trim_scale(q.buy_amount - q.expected)::text,
      'tolerance', trim_scale(q.tolerance)::text, 'occurredAt', ${instantText(sql, sql`q.occurred_at`)}) as evidence
  from quoted q
  where abs(q.buy_amount - q.expected) > q.tolerance
    -- The amount may be stated before the buy side's fee: then the entries show it less the fee.
    and not (q.buy_fee > 0 and abs(q.buy_amount - q.expected - q.buy_fee) <= q.tolerance and q.buy_amount - q.buy_fee = (
      select sum(case s.type when 'CREDIT' then s.amount else -s.amount end) from mirror.statement_entries s
      where s.book_id = q.book_id and s.related_id = q.resource_id and s.related_type = q.resource_type
        and s.account_id = q.buy_account_id and not s.held))`

export const conversionRate: CheckQuery = {
  checks: ["conversion-rate"],
  found,
  mayFind: ({ deferred, entries, resources }) => deferred || entries || resources,
}
