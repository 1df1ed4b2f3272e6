/**
 * Check 6: the books' receivables equal the totals of the credit accounts, principal alone and principal with interest: per
 * currency and rail, and per client where the credit accounts name one (`clientId`, which the interface does not document).
 * Receivables that no credit account covers are a difference, too, unless the service has none at all. Before a difference gets here, the sync has read receivables and credit accounts again, three times.
 *
 * The credit accounts are kept in the organization's book. Receivables are booked there for a lender, and in the clients' books
 * for a borrower. While a version waits to be booked, nothing is compared, but where a month is about to be closed. A `repaymentAmount`
 * that keeps its original value is no outstanding amount and is not compared. Balances of receivables that are no longer active count, too.
 */
import type { Sql } from "../../../Database/Client.ts"
import type { CheckQuery } from "../../Findings.ts"
import { type Fragment, inBooks, type Scope, sumText } from "../../ReconcileScope.ts"

/** The most receivables that a finding names. */
const mostNamed = 50

/** A version of a receivable is not booked: a sync books them once it has read everything. */
const isWaiting = (sql: Sql): Fragment =>
  sql`exists (select 1 from mirror.receivables w where w.book_id = n.book_id and not w.posted)`

const found = (sql: Sql, scope: Scope): Fragment => sql`
  with stated as (
    select r.book_id, r.raw ->> 'currency' as currency, r.raw ->> 'paymentRails' as rail,
      mirror.uuid_or_null(mirror.lower_ascii(r.raw ->> 'clientId'))::text as client_id,
      sum((r.raw ->> 'principalOutstanding')::numeric) as principal,
      sum((r.raw ->> 'totalRepaymentAmount')::numeric) as repayment,
      json_agg(r.item_id order by r.item_id) as accounts
    from mirror.reference_items r
    where r.book_id = ${inBooks(sql, scope)} and r.kind = 'credit_account' and r.current
    group by 1, 2, 3, 4),
  -- A credit account without a client covers all clients of its currency and rail that no other credit account names.
  keyed as (
    select s.book_id, s.currency, s.rail, array_agg(s.client_id) filter (where s.client_id is not null) as clients
    from stated s group by 1, 2, 3),
  -- By index: receivables that were paid long ago cost nothing.
  wanted as (
    select v.book_id, v.receivable_id from mirror.receivables v
    where v.book_id = ${inBooks(sql, scope)} and v.current and v.status = 'ACTIVE'
    union
    select o.book_id, d.receivable_id from mirror.books o
    join mirror.books k on k.connection = o.connection
    join ledger.receivable_dues d on d.book_id = k.book_id and d.owed
    where o.book_id = ${inBooks(sql, scope)} and o.client_id is null),
  held as (
    select v.book_id, v.receivable_id, v.client_id::text as client_id, d.currency, v.payment_rails as rail, v.served_at,
      v.current_principal as told, b.principal, b.interest
    from wanted w
    join mirror.books o on o.book_id = w.book_id and exists (select 1 from keyed y where y.book_id = o.book_id)
    join mirror.receivables v on v.book_id = w.book_id and v.receivable_id = w.receivable_id and v.current
    join ledger.receivable_dues d on d.receivable_id = v.receivable_id
    join mirror.books k on k.book_id = d.book_id and k.connection = o.connection
    cross join lateral (
      select coalesce(sum(case a.role when 'receivable_principal' then p.amount when 'loan_payable' then -p.amount end), 0) as principal,
        coalesce(sum(case a.role when 'receivable_interest' then p.amount when 'interest_payable' then -p.amount end), 0) as interest
      from ledger.journal_entries j
      join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
      join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
      where j.book_id = d.book_id and j.source_id = d.receivable_id and j.source_type = 'receivable_version') b),
  counted as (
    select h.book_id, h.currency, h.rail, case when h.client_id = any (y.clients) then h.client_id end as client_id,
      sum(h.principal) as principal, sum(h.principal + h.interest) as repayment, count(*) as receivables
    from held h
    left join keyed y on y.book_id = h.book_id and y.currency = h.currency and y.rail = h.rail
    group by 1, 2, 3, 4),
  compared as (
    select coalesce(s.book_id, c.book_id) as book_id, coalesce(s.currency, c.currency) as currency,
      coalesce(s.rail, c.rail) as rail, coalesce(s.client_id, c.client_id) as client_id,
      coalesce(s.principal, 0) as stated_principal, coalesce(s.repayment, 0) as stated_repayment,
      coalesce(s.accounts, '[]') as accounts, coalesce(c.principal, 0) as principal, coalesce(c.repayment, 0) as repayment,
      coalesce(c.receivables, 0) as receivables
    from stated s
    full join counted c on c.book_id = s.book_id and c.currency = s.currency and c.rail = s.rail
      and coalesce(c.client_id, '') = coalesce(s.client_id, ''))
  select 'credit-totals' as check_name, n.book_id, 'credit_total' as subject_type,
    n.currency || ' ' || n.rail || coalesce(' ' || n.client_id, '') as subject_id,
    ${scope.closing !== null} or not ${isWaiting(sql)} as ripe,
    format('The books hold receivables in %s on %s with a principal of %s and %s to be repaid; ', n.currency, n.rail,
      ${sumText(sql, sql`n.principal`, sql`n.currency`)}, ${sumText(sql, sql`n.repayment`, sql`n.currency`)})
    || case when json_array_length(n.accounts) = 0 then 'no credit account is of them.'
      else format('the credit accounts%s say %s and %s.', coalesce(' of client ' || n.client_id, ''),
        ${sumText(sql, sql`n.stated_principal`, sql`n.currency`)},
        ${sumText(sql, sql`n.stated_repayment`, sql`n.currency`)}) end
    || case when ${isWaiting(sql)} then ' Not all that was read of receivables is booked yet: a complete sync books it.' else '' end
      as message,
    jsonb_build_object('currency', n.currency, 'paymentRails', n.rail, 'clientId', n.client_id, 'receivables', n.receivables,
      'principal', n.principal::text, 'statedPrincipal', n.stated_principal::text, 'repayment', n.repayment::text,
      'statedRepayment', n.stated_repayment::text, 'creditAccounts', n.accounts,
      -- Receivables that may explain the difference: first those that differ from what the service states, then those as large
      -- as the difference, then the latest changed.
      'candidates', (
        select coalesce(jsonb_agg(jsonb_build_object('clientId', l.client_id, 'receivableId', l.receivable_id,
          'principal', l.principal::text, 'interest', l.interest::text, 'toldPrincipal', l.told::text)
          order by l.client_id, l.place), '[]')
        from (
          select h.*, row_number() over (order by h.principal <> h.told desc,
            abs(n.principal - n.stated_principal) in (h.principal, h.told) desc, h.served_at desc, h.receivable_id) as place
          from held h
          left join keyed y on y.book_id = h.book_id and y.currency = h.currency and y.rail = h.rail
          where h.book_id = n.book_id and h.currency = n.currency and h.rail = n.rail
            and case when h.client_id = any (y.clients) then h.client_id end is not distinct from n.client_id
          order by place limit ${mostNamed}) l)) as evidence
  from compared n
  where n.principal <> n.stated_principal
    or (${scope.repaymentAmount === "outstanding"} and n.repayment <> n.stated_repayment)`

export const creditTotals: CheckQuery = {
  checks: ["credit-totals"],
  found,
  mayFind: ({ creditAccounts }) => creditAccounts,
}
