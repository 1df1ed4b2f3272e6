/**
 * Check 7, in the base currency: every entry of a valued month adds up to zero, and the month's closing balances are those of
 * the month before plus its postings. Only with `--full`: it reads the whole base-currency journal.
 */
import type { Sql } from "../../Database/Client.ts"
import type { CheckQuery } from "../Findings.ts"
import { type Fragment, inBooks, openSubjects, type Scope } from "../ReconcileScope.ts"

/**
 * The valued months. `continues` is false once the month before was valued again: the month's opening balances are then
 * obsolete, until it is valued again itself.
 */
const months = (sql: Sql, scope: Scope): Fragment => sql`
  select v.book_id, v.period, v.base_currency, v.state -> 'balances' as left_behind, b.state -> 'balances' as before,
    case when b.period is null then v.previous = '' else b.state is not null and v.previous = b.fingerprint end as continues
  from valuation.months v
  left join valuation.months b on b.book_id = v.book_id and b.period = (v.period - interval '1 month')::date
  where v.book_id = ${inBooks(sql, scope)} and v.state is not null
    and (${scope.full} or (v.book_id, v.period) in (
      select o.book_id, (o.evidence ->> 'period' || '-01')::date from (${openSubjects(sql, scope, "base-journal")}) o))`

/** An amount in the base currency as text, with two decimals. */
const sum = (sql: Sql, amount: Fragment): Fragment => sql`round(${amount}, 2)::text`

/** As exports print it: `ORG-2026-10-000007`, or `ORG-FX-2026-10-000001` for an entry that only this journal has. */
const journalNumber = (sql: Sql): Fragment => sql`
  concat_ws('-', k.code, case when u.series = 'fx' then 'FX' end, to_char(u.period, 'YYYY-MM'),
    lpad(u.number::text, greatest(6, length(u.number::text)), '0'))`

const uneven = (sql: Sql): Fragment => sql`
  select 'base-journal' as check_name, u.book_id, 'base_entry' as subject_type, n.journal_number as subject_id, true as ripe,
    format('The lines of %s do not add up to nothing in the base currency: they leave %s %s.', n.journal_number,
      ${sum(sql, sql`u.over`)}, u.base_currency) as message,
    jsonb_build_object('book', k.code, 'period', to_char(u.period, 'YYYY-MM'), 'journalNumber', n.journal_number,
      'currency', u.base_currency, 'difference', ${sum(sql, sql`u.over`)}) as evidence
  from (
    select m.book_id, m.period, m.base_currency, p.series, p.number, sum(p.amount) as over
    from months m
    join valuation.postings p on p.book_id = m.book_id and p.period = m.period
    group by m.book_id, m.period, m.base_currency, p.series, p.number having sum(p.amount) <> 0) u
  join mirror.books k on k.book_id = u.book_id
  cross join lateral (select ${journalNumber(sql)} as journal_number) n`

/** The balances of a month's state, which are stored in cents, by ledger account or role. A quotient would be rounded at 16 digits. */
const kept = (sql: Sql, balances: Fragment): Fragment => sql`
  select m.book_id, m.period, m.base_currency, s.key as account, s.value::numeric * 0.01 as amount
  from months m cross join lateral json_each_text(${balances}) s
  where m.continues`

const drifted = (sql: Sql): Fragment => sql`
  select 'base-journal', d.book_id, 'base_account', d.account || ':' || to_char(d.period, 'YYYY-MM'), true,
    format('The base-currency balance of %s at the end of %s says %s %s; %s before and postings of %s come to %s.',
      coalesce(a.code, r.code, d.account), to_char(d.period, 'YYYY-MM'), ${sum(sql, sql`d.balance`)}, d.base_currency,
      ${sum(sql, sql`d.before`)}, ${sum(sql, sql`d.posted`)}, ${sum(sql, sql`d.before + d.posted`)}),
    jsonb_strip_nulls(jsonb_build_object('book', k.code, 'period', to_char(d.period, 'YYYY-MM'), 'accountId', a.account_id,
      'role', r.role, 'code', coalesce(a.code, r.code), 'currency', d.base_currency, 'balance', ${sum(sql, sql`d.balance`)},
      'before', ${sum(sql, sql`d.before`)}, 'posted', ${sum(sql, sql`d.posted`)},
      'difference', ${sum(sql, sql`d.balance - d.before - d.posted`)}))
  from (
    select book_id, period, base_currency, account, sum(balance) as balance, sum(before) as before, sum(posted) as posted
    from (
      select book_id, period, base_currency, account, amount as balance, 0 as before, 0 as posted
      from (${kept(sql, sql`m.left_behind`)}) after
      union all
      select book_id, period, base_currency, account, 0, amount, 0 from (${kept(sql, sql`m.before`)}) earlier
      union all
      select m.book_id, m.period, m.base_currency, coalesce(p.account_id::text, p.role), 0, 0, sum(p.amount)
      from months m
      join valuation.postings p on p.book_id = m.book_id and p.period = m.period
      where m.continues
      group by m.book_id, m.period, m.base_currency, coalesce(p.account_id::text, p.role)
      union all
      select m.book_id, m.period, m.base_currency, t.account, 0, 0, t.debit - t.credit
      from months m
      join ledger.archived_turnover t on t.book_id = m.book_id and t.period = m.period and t.basis = 'base'
      where m.continues) sides
    group by book_id, period, base_currency, account having sum(balance) <> sum(before) + sum(posted)) d
  join mirror.books k on k.book_id = d.book_id
  left join ledger.accounts a on a.book_id = d.book_id and a.account_id::text = d.account
  left join valuation.accounts r on r.book_id = d.book_id and r.role = d.account`

const found = (sql: Sql, scope: Scope): Fragment => sql`
  with months as materialized (${months(sql, scope)})
  ${uneven(sql)}
  union all
  ${drifted(sql)}`

export const baseJournal: CheckQuery = { checks: ["base-journal"], found, mayFind: () => false }
