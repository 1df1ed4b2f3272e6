/**
 * Check 10: a receivable's balance in loan clearing waits for cash, or else is a finding: more or less cash came than its
 * versions settled. Neither is income. A balance that waits is an open item (`reconcile.loan_clearing_items`), not a finding.
 *
 * What was paid out beyond what was due and came back is neither (a loan that was cancelled).
 *
 * What no receivable accounts for is a finding as well: receivables wait for a complete sync, and a month must not close meanwhile.
 *
 * A shortfall of interest alone leaves no balance in clearing (it is reversed from income), and is a finding all the same.
 */
import type { Sql } from "../../../Database/Client.ts"
import type { CheckQuery } from "../../Findings.ts"
import { type Fragment, inBooks, instantText, type Scope, sumText } from "../../ReconcileScope.ts"

const found = (sql: Sql, scope: Scope): Fragment => sql`
  with compared as (
    select c.*, r.purpose, r.due, r.paid, r.waiting, r.is_returned
    from reconcile.receivable_clearing c
    cross join lateral (
      select p.purpose, p.due, p.paid, p.waiting,
        p.purpose = 'repayment' and p.paid < p.due and c.returned > 0 and p.paid + c.returned >= p.due as is_returned
      from (values ('repayment', c.repaid_due, c.repaid_paid, c.repaid_waiting),
        ('disbursement', c.lent_due, c.lent_paid, c.lent_waiting)) as p (purpose, due, paid, waiting)
      where p.paid - c.came_back > p.due or p.paid < p.due - p.waiting
      order by p.purpose desc limit 1) r
    where c.book_id = ${inBooks(sql, scope)})
  select 'loan-clearing' as check_name, c.book_id, 'receivable' as subject_type,
    c.receivable_id::text || case when c.currency = d.currency then '' else ' ' || c.currency end as subject_id,
    true as ripe,
    case when c.purpose = 'repayment' and d.taken_back > 0 and c.currency = d.currency
      then format('The service took a repayment of receivable %s back (%s). ', c.receivable_id,
        ${sumText(sql, sql`d.taken_back`, sql`c.currency`)}) else '' end
    || case when c.is_returned
      then format('Of receivable %s, %s was repaid where %s was due, and %s was paid back: %s more than was owed back',
        c.receivable_id, ${sumText(sql, sql`c.paid + c.returned`, sql`c.currency`)}, ${sumText(sql, sql`c.due`, sql`c.currency`)},
        ${sumText(sql, sql`c.returned`, sql`c.currency`)}, ${sumText(sql, sql`c.due - c.paid`, sql`c.currency`)})
      else format('The %s of receivable %s: %s was due, %s was paid%s: %s too %s', c.purpose, c.receivable_id,
        ${sumText(sql, sql`c.due`, sql`c.currency`)}, ${sumText(sql, sql`c.paid`, sql`c.currency`)},
        case when c.came_back = 0 then '' else format(', %s of it %s', ${sumText(sql, sql`c.came_back`, sql`c.currency`)},
          case c.purpose when 'repayment' then 'gave back what was paid out' else 'came back' end) end,
        ${sumText(sql, sql`abs(c.paid - c.came_back - c.due)`, sql`c.currency`)},
        case when c.paid > c.due then 'much' else 'little' end) end
    || case when c.amount = 0 then '' else format(', %s stand in loan clearing', ${sumText(sql, sql`c.amount`, sql`c.currency`)}) end
    || '.' as message,
    jsonb_build_object('receivableId', c.receivable_id, 'purpose', c.purpose, 'currency', c.currency, 'due', c.due::text,
      'paid', c.paid::text, 'paidBack', c.returned::text, case when c.paid > c.due then 'excess' else 'shortfall' end, abs(c.paid - c.came_back - c.due)::text,
      'loanClearing', c.amount::text, 'takenBack', d.taken_back::text, 'occurredAt', ${instantText(sql, sql`c.since`)},
      'statementEntries', (select coalesce(jsonb_agg(distinct e.entry_id), '[]') from ledger.receivable_shares s
        cross join lateral unnest(s.entries) as e (entry_id)
        where s.book_id = c.book_id and s.receivable_id = c.receivable_id and s.currency = c.currency)) as evidence
  from compared c
  cross join lateral (
    select r.currency, r.taken_back from ledger.receivable_dues r
    where r.book_id = c.book_id and r.receivable_id = c.receivable_id offset 0) d
  union all
  select 'loan-clearing', i.book_id, 'currency', i.currency, true,
    format('%s stand in loan clearing that no receivable accounts for, as where cash of one came or went since receivables were last booked: a complete sync books that.',
      ${sumText(sql, sql`i.amount`, sql`i.currency`)}),
    jsonb_build_object('currency', i.currency, 'loanClearing', i.amount::text)
  from reconcile.loan_clearing_items i
  where i.book_id = ${inBooks(sql, scope)} and i.receivable_id is null`

export const loanClearing: CheckQuery = { checks: ["loan-clearing"], found, mayFind: ({ loans }) => loans }
