/**
 * Accounts, clients and ACTIVE receivables that were once read and that the service no longer serves: one finding each, with
 * the last known state. The evidence holds no time of the check, so that it stays the same until the state changes; an
 * acceptance at a close holds as long.
 */
import type { Sql } from "../../Database/Client.ts"
import type { CheckQuery } from "../Findings.ts"
import { type Fragment, inBooks, instantText, type Scope, sumText } from "../ReconcileScope.ts"
import { readElsewhere } from "./SharedAccounts.ts"

const accounts = (sql: Sql, scope: Scope): Fragment => sql`
  select 'account-gone' as check_name, a.book_id, 'account' as subject_type, a.account_id::text as subject_id, true as ripe,
    format('Account %s (%s, %s) is %s, and its statement answers %s. Its last balance is %s, %s.%s',
      a.account_id, a.currency, a.status,
      case when a.unlisted_since is null then 'closed' else 'not in the list of accounts any more' end, s.status, ${sumText(sql, sql`a.balance`, sql`a.currency`)},
      case when s.ended_at is null then 'never read to its end'
        when s.began_at is null then 'read to its end, but the service did not say when (no Date header)'
        else 'last read to its end on ' || to_char(s.began_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') end,
      ' It is read in ' || o.codes || ' now, where all that its statement shows is booked: what stands here, stands there as well.') as message,
    jsonb_build_object('accountId', a.account_id, 'currency', a.currency, 'status', a.status,
      'balance', trim_scale(a.balance)::text, 'lastBalance', trim_scale(a.last_balance)::text, 'entries', a.entries,
      'answers', s.status, 'readAt', ${instantText(sql, sql`s.began_at`)})
      || case when o.codes is null then '{}'::jsonb else jsonb_build_object('books', o.listed) end as evidence
  from reconcile.statement_standing s
  join mirror.accounts a on a.book_id = s.book_id and a.account_id = s.account_id
  join mirror.books b on b.book_id = a.book_id
  -- An account that moved to another client.
  cross join lateral ${readElsewhere(sql)} o
  where s.book_id = ${inBooks(sql, scope)} and s.gone
    and not exists (select 1 from reconcile.gone_clients g where g.book_id = s.book_id)`

const clients = (sql: Sql, scope: Scope): Fragment => sql`
  select 'client-gone' as check_name, g.book_id, 'client' as subject_type, g.client_id::text as subject_id, true as ripe,
    format('The client cannot be read any more: %s. The last balances of its accounts: %s.',
      case when g.status is null then g.detail else 'its list of accounts answers ' || g.status end, b.sums) as message,
    jsonb_build_object('clientId', g.client_id, 'answers', coalesce(g.status::text, g.detail), 'accounts', b.listed,
      'readAt', ${instantText(sql, sql`g.began_at`)}) as evidence
  from reconcile.gone_clients g
  cross join lateral (
    select string_agg(${sumText(sql, sql`x.balance`, sql`x.currency`)}, ', ' order by x.currency) as sums,
      jsonb_agg(x.listed order by x.currency) as listed
    from (
      select a.currency, sum(a.balance) as balance,
        jsonb_agg(jsonb_build_object('accountId', a.account_id, 'currency', a.currency, 'status', a.status,
          'balance', trim_scale(a.balance)::text) order by a.account_id) as listed
      from mirror.accounts a where a.book_id = g.book_id group by a.currency) x) b
  where g.book_id = ${inBooks(sql, scope)}`

/** In the book that books the receivable. The interface has only a list of receivables, so nothing else can be asked. */
const receivables = (sql: Sql, scope: Scope): Fragment => sql`
  select 'receivable-gone' as check_name, d.book_id, 'receivable' as subject_type, v.receivable_id::text as subject_id,
    true as ripe,
    format('Receivable %s (%s) is not in the list of receivables any more. It was last listed on %s with a principal of %s and %s to be repaid.',
      v.receivable_id, v.status,
      to_char(coalesce(v.last_listed_at, v.served_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
      ${sumText(sql, sql`v.current_principal`, sql`v.currency`)}, ${sumText(sql, sql`v.repayment_amount`, sql`v.currency`)}) as message,
    jsonb_build_object('receivableId', v.receivable_id, 'clientId', v.client_id, 'status', v.status, 'currency', v.currency,
      'principal', trim_scale(v.current_principal)::text, 'repayment', trim_scale(v.repayment_amount)::text,
      'listedAt', ${instantText(sql, sql`coalesce(v.last_listed_at, v.served_at)`)}) as evidence
  from mirror.books b
  join mirror.books o on o.connection = b.connection and o.client_id is null
  join mirror.receivables v on v.book_id = o.book_id and v.current and v.unlisted_since is not null
  join ledger.receivable_dues d on d.book_id = b.book_id and d.receivable_id = v.receivable_id
  where b.book_id = ${inBooks(sql, scope)}`

const found = (sql: Sql, scope: Scope): Fragment =>
  sql`${accounts(sql, scope)} union all ${clients(sql, scope)} union all ${receivables(sql, scope)}`

export const gone: CheckQuery = { checks: ["account-gone", "client-gone", "receivable-gone"], found }
