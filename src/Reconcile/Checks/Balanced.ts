/**
 * Check 7: debits equal credits per book and currency, by the stored balances. With `--full` or for a month, the balances are
 * also compared with the sums of the postings, per account and month.
 */
import type { Sql } from "../../Database/Client.ts"
import type { CheckQuery } from "../Findings.ts"
import { type Fragment, inBooks, openSubjects, type Scope, sumText } from "../ReconcileScope.ts"

/** The books and months whose balances are compared with their postings; this reads their journal. */
const months = (sql: Sql, scope: Scope): Fragment => sql`
  select m.book_id, m.period from ledger.periods m where m.book_id = ${inBooks(sql, scope)}
    and (${scope.full} or m.period = ${scope.period === null ? null : `${scope.period}-01`}::text::date)
  union
  select o.book_id, (o.evidence ->> 'period' || '-01')::date
  from (${openSubjects(sql, scope, "trial-balance")}) o where o.subject_type = 'ledger_account'`

const uneven = (sql: Sql, scope: Scope): Fragment => sql`
  select 'trial-balance' as check_name, t.book_id, 'currency' as subject_type, t.currency as subject_id, true as ripe,
    format('Debits of %s and credits of %s are not equal.', ${sumText(sql, sql`t.debit`, sql`t.currency`)},
      ${sumText(sql, sql`t.credit`, sql`t.currency`)}) as message,
    jsonb_build_object('currency', t.currency, 'debit', t.debit::text, 'credit', t.credit::text,
      'difference', (t.debit - t.credit)::text) as evidence
  from (
    select b.book_id, a.currency, sum(b.debit) as debit, sum(b.credit) as credit
    from ledger.balances b
    join ledger.accounts a on a.book_id = b.book_id and a.account_id = b.account_id
    where b.book_id = ${inBooks(sql, scope)}
    group by b.book_id, a.currency having sum(b.debit) <> sum(b.credit)) t`

/**
 * What the postings of the months add up to. Entries are found by the numbers of their month, and those without one in their queue:
 * the journal itself has no index of months. A month is looked up by itself, whatever the length of the history; for all of them
 * one pass over the journal is less. The count keeps the server from reading the journal where there is no month to compare.
 */
const posted = (sql: Sql, { full }: Scope): Fragment => {
  const sums = sql`sum(greatest(p.amount, 0)) as posted_debit, sum(greatest(-p.amount, 0)) as posted_credit`
  const lines = sql`
    from ledger.entry_numbers j join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id`
  return full
    ? sql`
      select p.book_id, p.account_id, j.period, ${sums} ${lines}
      where (j.book_id, j.period) in (select m.book_id, m.period from months m)
        and (select count(*) > 0 from months)
      group by p.book_id, p.account_id, j.period`
    : sql`
      select m.book_id, x.account_id, m.period, x.posted_debit, x.posted_credit
      from months m
      cross join lateral (
        select p.account_id, ${sums} ${lines}
        where j.book_id = m.book_id and j.period = m.period
        group by p.account_id) x`
}

const drifted = (sql: Sql, scope: Scope): Fragment => sql`
  select 'trial-balance', d.book_id, 'ledger_account', d.account_id || ':' || to_char(d.period, 'YYYY-MM'), true,
    format('The balance of %s in %s says debits of %s and credits of %s; its postings add up to %s and %s.',
      coalesce(a.code, 'account ' || d.account_id), to_char(d.period, 'YYYY-MM'),
      ${sumText(sql, sql`d.debit`, sql`a.currency`)}, ${sumText(sql, sql`d.credit`, sql`a.currency`)},
      ${sumText(sql, sql`d.posted_debit`, sql`a.currency`)}, ${sumText(sql, sql`d.posted_credit`, sql`a.currency`)}),
    jsonb_build_object('accountId', d.account_id, 'code', a.code, 'currency', a.currency,
      'period', to_char(d.period, 'YYYY-MM'), 'debit', d.debit::text, 'credit', d.credit::text,
      'postedDebit', d.posted_debit::text, 'postedCredit', d.posted_credit::text)
  from (
    select book_id, account_id, period, sum(debit) as debit, sum(credit) as credit, sum(posted_debit) as posted_debit,
      sum(posted_credit) as posted_credit
    from (
      select b.book_id, b.account_id, b.period, b.debit, b.credit, 0::numeric as posted_debit, 0::numeric as posted_credit
      from ledger.balances b where (b.book_id, b.period) in (select m.book_id, m.period from months m)
        and (select count(*) > 0 from months)
      union all
      select x.book_id, x.account_id, x.period, 0, 0, x.posted_debit, x.posted_credit from (${posted(sql, scope)}) x
      union all
      select t.book_id, t.account::integer, t.period, 0, 0, t.debit, t.credit
      from ledger.archived_turnover t
      where t.basis = 'native' and (t.book_id, t.period) in (select m.book_id, m.period from months m)) both_sides
    group by book_id, account_id, period) d
  left join ledger.accounts a on a.book_id = d.book_id and a.account_id = d.account_id
  where d.debit <> d.posted_debit or d.credit <> d.posted_credit`

const found = (sql: Sql, scope: Scope): Fragment => sql`
  with months as materialized (${months(sql, scope)})
  ${uneven(sql, scope)}
  union all
  ${drifted(sql, scope)}`

export const trialBalance: CheckQuery = { checks: ["trial-balance"], found }
