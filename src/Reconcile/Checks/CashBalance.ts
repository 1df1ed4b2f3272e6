/**
 * Check 2: per account, ledger cash = the balance after the last entry = the balance that the service reports. Before a
 * difference gets here, the sync or the backfill has read the latter two again, three times. All are in the account's one currency.
 */
import type { Sql } from "../../Database/Client.ts"
import type { CheckQuery } from "../Findings.ts"
import { type Fragment, inBooks, instantText, type Scope, sumText } from "../ReconcileScope.ts"

const found = (sql: Sql, scope: Scope): Fragment => {
  const books = inBooks(sql, scope)
  return sql`
  with cash as (
    select l.book_id, l.partner_account_id as account_id, l.currency, coalesce(sum(b.debit - b.credit), 0) as amount
    from ledger.accounts l
    left join ledger.balances b on b.book_id = l.book_id and b.account_id = l.account_id
    where l.book_id = ${books} and l.role = 'cash'
    group by l.book_id, l.partner_account_id, l.currency),
  figures as (
    select coalesce(a.book_id, c.book_id) as book_id, coalesce(a.account_id, c.account_id) as account_id,
      coalesce(a.currency, c.currency) as currency, coalesce(c.amount, 0) as ledger, coalesce(a.balance, 0) as service,
      coalesce(a.last_balance, 0) as statement, coalesce(a.entry_balance, 0) as entry, a.entries, a.last_entry_id,
      a.tail_read_at, a.balance_read_at, a.stated_currency, a.unlisted_since
    from (
      select m.book_id, m.account_id, m.currency, m.balance, m.last_balance, m.entries, m.last_entry_id, m.tail_read_at,
        m.balance_read_at, m.unlisted_since, e.balance_after as entry_balance, mirror.upper_ascii(m.raw ->> 'currency') as stated_currency
      from mirror.accounts m
      left join mirror.statement_entries e on e.book_id = m.book_id and e.account_id = m.account_id
        and e.position = m.entries and not e.held
      where m.book_id = ${books}) a
    full join cash c on c.book_id = a.book_id and c.account_id = a.account_id and c.currency = a.currency),
  differing as (
    select distinct on (f.book_id, f.account_id) f.* from figures f
    where f.ledger <> f.statement or f.statement <> f.service or f.statement <> f.entry or f.stated_currency <> f.currency
    order by f.book_id, f.account_id, (f.entries is null), f.currency)
  select 'cash-balance' as check_name, f.book_id, 'account' as subject_type, f.account_id::text as subject_id,
    true as ripe,
    format('The books hold %s, %s, the service reports %s.%s',
      ${sumText(sql, sql`f.ledger`, sql`f.currency`)},
      case when f.last_entry_id is null and f.statement = 0 then 'no statement entry is booked'
        else format('the last booked statement entry leaves %s', ${sumText(sql, sql`f.statement`, sql`f.currency`)}) end,
      ${sumText(sql, sql`f.service`, sql`coalesce(f.stated_currency, f.currency)`)},
      case
        when f.stated_currency <> f.currency then ' The account has another currency than when it was first read.'
        when f.entries is null then ' The service does not list such an account.'
        when f.statement <> f.entry then format(' The last entry itself says %s.', ${sumText(sql, sql`f.entry`, sql`f.currency`)})
        when f.tail_read_at is null then ' The statement has not been read to its end yet.'
        when f.tail_read_at < f.balance_read_at then ' The statement was read to its end before that balance was.'
        when f.balance_read_at < f.unlisted_since then format(' That balance is of %s: the account has left the list since.',
          to_char(f.balance_read_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
        else '' end) as message,
    jsonb_build_object('currency', f.currency, 'ledger', f.ledger::text, 'statement', f.statement::text,
      'service', f.service::text, 'difference', (f.service - f.ledger)::text, 'entries', f.entries,
      'lastEntryId', f.last_entry_id, 'statementReadAt', ${instantText(sql, sql`f.tail_read_at`)},
      'balanceReadAt', ${instantText(sql, sql`f.balance_read_at`)}) as evidence
  from differing f`
}

export const cashBalance: CheckQuery = { checks: ["cash-balance"], found }
