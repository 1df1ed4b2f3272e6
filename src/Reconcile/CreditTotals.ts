/**
 * Check 6: per currency and rail, the receivables' principal and what is to be repaid of them add up to what the credit
 * accounts say. A credit account names no client, so that all of a connection stand together; both lists are kept in the
 * organization's book. The sync has read both again, three times, before it comes to this.
 *
 * A `repaymentAmount` that stays as it was at the start is no outstanding amount: it is compared only where it falls.
 */
import type { Sql } from "../Database/Client.ts"
import type { CheckQuery } from "./Findings.ts"
import { type Fragment, inBooks, type Scope, sumText } from "./Scope.ts"

const found = (sql: Sql, scope: Scope): Fragment => sql`
  with stated as (
    select r.book_id, r.raw ->> 'currency' as currency, r.raw ->> 'paymentRails' as rail,
      sum((r.raw ->> 'principalOutstanding')::numeric) as principal,
      sum((r.raw ->> 'totalRepaymentAmount')::numeric) as repayment,
      json_agg(r.item_id order by r.item_id) as accounts
    from mirror.reference_items r
    where r.book_id = ${inBooks(sql, scope)} and r.kind = 'credit_account' and r.current
    group by 1, 2, 3),
  counted as (
    select v.book_id, v.currency, v.payment_rails as rail, sum(v.current_principal) as principal,
      sum(v.repayment_amount) as repayment, count(*) as receivables
    from mirror.receivables v
    where v.book_id = ${inBooks(sql, scope)} and v.current and v.status = 'ACTIVE'
    group by 1, 2, 3),
  compared as (
    select s.book_id, s.currency, s.rail, s.principal as stated_principal, s.repayment as stated_repayment, s.accounts,
      coalesce(c.principal, 0) as principal, coalesce(c.repayment, 0) as repayment,
      coalesce(c.receivables, 0) as receivables
    from stated s left join counted c using (book_id, currency, rail))
  select 'credit-totals' as check_name, n.book_id, 'credit_total' as subject_type, n.currency || ' ' || n.rail as subject_id,
    true as ripe,
    format('The active receivables in %s on %s come to a principal of %s and %s to be repaid; the credit accounts say %s and %s.',
      n.currency, n.rail, ${sumText(sql, sql`n.principal`, sql`n.currency`)},
      ${sumText(sql, sql`n.repayment`, sql`n.currency`)},
      ${sumText(sql, sql`n.stated_principal`, sql`n.currency`)},
      ${sumText(sql, sql`n.stated_repayment`, sql`n.currency`)}) as message,
    jsonb_build_object('currency', n.currency, 'paymentRails', n.rail, 'receivables', n.receivables,
      'principal', n.principal::text, 'statedPrincipal', n.stated_principal::text, 'repayment', n.repayment::text,
      'statedRepayment', n.stated_repayment::text, 'creditAccounts', n.accounts) as evidence
  from compared n
  where n.principal <> n.stated_principal
    or (${scope.repaymentAmount === "outstanding"} and n.repayment <> n.stated_repayment)`

export const creditTotals: CheckQuery = { checks: ["credit-totals"], found }
