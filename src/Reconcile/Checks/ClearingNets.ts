/**
 * Check 5: the postings of a refused or cancelled movement net to zero in clearing, and in each account that a posting rule named
 * instead. A fee that was kept stands in fees and does not count; nor does what a person has moved elsewhere since the refusal or
 * cancellation was known, nor an account for returns, of a rule that names their direction.
 */
import type { Sql } from "../../Database/Client.ts"
import { textArray } from "../../Database/TextArray.ts"
import type { CheckQuery } from "../Findings.ts"
import {
  brokenAccounts,
  type Fragment,
  instantText,
  isClosing,
  resourcesInScope,
  type Scope,
  sumText,
} from "../ReconcileScope.ts"

const found = (sql: Sql, scope: Scope): Fragment => sql`
  select distinct on (r.book_id, r.resource_type, r.resource_id) 'clearing-nets' as check_name, r.book_id,
    mirror.lower_ascii(r.resource_type) as subject_type, r.resource_id::text as subject_id,
    not exists (
      select 1 from mirror.accounts a
      where a.book_id = r.book_id and a.account_id in (r.account_id, r.buy_account_id)
        and ((a.tail_read_at is null or a.tail_read_at <= r.changed_at)
            and not ${isClosing(sql, scope, sql`r.book_id`, sql`coalesce(r.completed_at, r.created_at)`)}
          or (a.book_id, a.account_id::text) in (${brokenAccounts(sql, scope)}))) as ripe,
    format('The %s of %s was %s, but leaves %s.', mirror.lower_ascii(r.resource_type),
      ${sumText(sql, sql`r.amount`, sql`r.currency`)}, mirror.lower_ascii(r.status),
      case when n.amount = 0 then n.apart else ${sumText(sql, sql`n.amount`, sql`n.currency`)} || ' in ' || n.place end) as message,
    jsonb_build_object('status', r.status, 'currency', n.currency, 'clearing', n.amount::text, 'roles', n.roles,
      'occurredAt', ${instantText(sql, sql`coalesce(r.completed_at, r.created_at)`)}) as evidence
  from mirror.resources r
  cross join lateral (
    select k.currency, sum(k.amount) as amount, jsonb_agg(distinct k.role) as roles,
      coalesce(sum(k.amount) filter (where not k.answered), 0) as unanswered,
      -- A conversion stands in transit, and in trading once both of its sides are there.
      case when r.resource_type <> 'CONVERSION' then 'clearing' when bool_or(k.role = 'trading' and k.amount <> 0) then 'trading'
        else 'transit' end as place,
      -- What one account lacks stands in another one.
      case when bool_or(k.role = 'other') and min(k.amount) filter (where not k.answered) < 0
          and max(k.amount) filter (where not k.answered) > 0
          and not bool_or(k.rule_code = any (${textArray(sql, scope.returnCodes)}) and k.amount <> 0)
        then string_agg(${sumText(sql, sql`k.amount`, sql`k.currency`)} || ' in ' || k.code || ' ' || k.name, ' and ' order by k.code)
          filter (where k.amount <> 0) end as apart
    from (
      select p.currency, a.role, a.code, a.rule_code, a.name, sum(p.amount) as amount,
        -- Accounts that a person moved some of it to, once it was refused or cancelled: that person answers for it.
        a.account_id in (
          select q.account_id from mirror.statement_entries o
          join ledger.journal_entries m on m.book_id = o.book_id and m.source_id = o.entry_id and m.source_type = 'manual'
            and m.recorded_at >= r.changed_at
          join ledger.postings q on q.book_id = m.book_id and q.entry_id = m.entry_id
          join ledger.accounts b on b.book_id = q.book_id and b.account_id = q.account_id and b.role = 'other'
          where o.book_id = r.book_id and o.related_id = r.resource_id and o.related_type = r.resource_type) as answered
      from mirror.statement_entries s
      -- Key by key (offset 0): a large book among many small ones is taken for one of those, and a join reads all of it for each resource.
      cross join lateral (
        select j.entry_id from ledger.journal_entries j
        where j.book_id = s.book_id and j.source_id = s.entry_id offset 0) j
      cross join lateral (
        select p.account_id, p.currency, p.amount from ledger.postings p
        where p.book_id = s.book_id and p.entry_id = j.entry_id offset 0) p
      cross join lateral (
        select a.account_id, a.role, a.code, a.rule_code, a.name from ledger.accounts a
        where a.book_id = s.book_id and a.account_id = p.account_id offset 0) a
      where s.book_id = r.book_id and s.related_id = r.resource_id and s.related_type = r.resource_type and not s.held
        and a.role in ('deposits_clearing', 'withdrawals_clearing', 'conversions_in_transit', 'trading', 'other')
      group by p.currency, a.account_id, a.role, a.code, a.rule_code, a.name) k
    group by k.currency) n
  where (n.amount <> 0 and n.unanswered <> 0 or n.amount = 0 and n.apart is not null) and r.status in ('CANCELED', 'REJECTED') and ${resourcesInScope(sql, scope, "clearing-nets")}
  order by r.book_id, r.resource_type, r.resource_id, n.currency`

export const clearingNets: CheckQuery = {
  checks: ["clearing-nets"],
  found,
  deferring: ["CANCELED", "REJECTED"],
  mayFind: ({ deferred, entries, moves, resources }) => deferred || entries || moves || resources,
}
