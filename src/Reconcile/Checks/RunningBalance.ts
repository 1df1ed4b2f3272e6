/** Check 1: every account's chain of running balances, entry by entry, and the entries held back behind a gap. */
import type { Sql } from "../../Database/Client.ts"
import type { CheckQuery } from "../Findings.ts"
import {
  amountText,
  entriesInScope,
  type Fragment,
  inBooks,
  instantText,
  isEverything,
  openSubjects,
  type Scope,
  sumText,
} from "../ReconcileScope.ts"

/** The range of each account's statement to check, from one entry before the first in scope. */
const ranges = (sql: Sql, scope: Scope): Fragment => sql`
  select x.book_id, x.account_id, max(x.last) as last,
    coalesce((select max(p.position) from mirror.statement_entries p
              where p.book_id = x.book_id and p.account_id = x.account_id and p.position < min(x.first)),
             min(x.first)) as first
  from (
    select e.book_id, e.account_id, min(e.position) as first, max(e.position) as last
    from mirror.statement_entries e where ${entriesInScope(sql, scope)} and not e.held group by 1, 2
    union all
    select o.book_id, o.subject_id::uuid, (o.evidence ->> 'position')::bigint, (o.evidence ->> 'position')::bigint
    from (${openSubjects(sql, scope, "running-balance")}) o) x
  group by x.book_id, x.account_id`

const inRange = (sql: Sql, scope: Scope): Fragment =>
  isEverything(scope)
    ? sql`mirror.statement_entries e where e.book_id = ${inBooks(sql, scope)} and not e.held`
    : sql`(${ranges(sql, scope)}) r join mirror.statement_entries e on e.book_id = r.book_id
        and e.account_id = r.account_id and e.position between r.first and r.last where not e.held`

/** The first break of each account. Few columns, since all of them are sorted. */
const breaks = (sql: Sql, scope: Scope): Fragment => sql`
  select distinct on (c.book_id, c.account_id) c.*
  from (
    select e.book_id, e.account_id, e.position, e.balance_after, e.balance_before,
      case e.type when 'CREDIT' then e.amount else -e.amount end as moved,
      lag(e.position) over chain as position_before, lag(e.balance_after) over chain as carried
    from ${inRange(sql, scope)}
    window chain as (partition by e.book_id, e.account_id order by e.position)) c
  where c.position <> c.position_before + 1 or c.carried + c.moved <> c.balance_after
    or c.balance_before <> coalesce(c.carried, c.balance_after - c.moved)
  order by c.book_id, c.account_id, c.position`

const statesBefore = (sql: Sql): Fragment => sql`
  format('states %s as the balance before it, which was %s.', ${sumText(sql, sql`f.balance_before`, sql`f.currency`)},
    ${amountText(sql, sql`coalesce(f.carried, f.balance_after - case f.type when 'CREDIT' then f.amount else -f.amount end)`, sql`f.currency`)})`

const found = (sql: Sql, scope: Scope): Fragment => sql`
  with problem as (
    select b.book_id, b.account_id, b.position, b.position_before, b.carried, 0::bigint as held
    from (${breaks(sql, scope)}) b
    union all
    select a.book_id, a.account_id, h.position, a.entries, a.last_balance, h.held
    from mirror.accounts a
    -- Both bounds, for the planner: as in reconcile.account_standings.
    cross join lateral (
      select min(e.position) as position, count(*) as held from mirror.statement_entries e
      where e.book_id = a.book_id and e.account_id = a.account_id and e.position between a.entries + 1 and 9223372036854775807 and e.held) h
    where a.book_id = ${inBooks(sql, scope)} and h.held > 0),
  first as (
    select distinct on (p.book_id, p.account_id) p.*, e.entry_id, e.type, e.amount, e.currency, e.balance_after,
      e.balance_before, e.occurred_at, m.moved, p.carried + m.moved as expected
    from problem p
    join mirror.statement_entries e
      on e.book_id = p.book_id and e.account_id = p.account_id and e.position = p.position
    cross join lateral (select case e.type when 'CREDIT' then e.amount else -e.amount end as moved) m
    order by p.book_id, p.account_id, p.position)
  select 'running-balance' as check_name, f.book_id, 'account' as subject_type, f.account_id::text as subject_id,
    true as ripe,
    case
      when f.held > 0 then format('%s held back from the books behind position %s: the first, %s, %s %s',
        case f.held when 1 then '1 entry is' else f.held || ' entries are' end, f.position_before, f.entry_id, f.type,
        case when f.expected = f.balance_after and coalesce(f.balance_before, f.carried) = f.carried
              or f.carried is null and coalesce(f.balance_before + f.moved, f.balance_after) = f.balance_after
            then 'waits for a row before it that could not be understood.'
          when f.expected = f.balance_after then ${statesBefore(sql)}
          when f.carried is null then 'does not agree with its own balance before and after.'
          else format('of %s, says that it leaves %s; after %s it would be %s.', ${amountText(sql, sql`f.amount`, sql`f.currency`)},
            ${sumText(sql, sql`f.balance_after`, sql`f.currency`)}, coalesce(${amountText(sql, sql`f.carried`, sql`f.currency`)}, 'nothing'),
            coalesce(${amountText(sql, sql`f.expected`, sql`f.currency`)}, 'anything')) end)
      when f.position <> f.position_before + 1
        then format('Entry %s is at position %s, but the one before it at %s: entries between them are missing.',
          f.entry_id, f.position, f.position_before)
      when f.expected <> f.balance_after
        then format('Entry %s at position %s, %s of %s, leaves %s; after %s it should be %s.', f.entry_id, f.position,
          f.type, ${amountText(sql, sql`f.amount`, sql`f.currency`)}, ${sumText(sql, sql`f.balance_after`, sql`f.currency`)},
          ${amountText(sql, sql`f.carried`, sql`f.currency`)}, ${amountText(sql, sql`f.expected`, sql`f.currency`)})
      else format('Entry %s at position %s %s', f.entry_id, f.position, ${statesBefore(sql)})
    end as message,
    jsonb_build_object('entryId', f.entry_id, 'position', coalesce(case when f.held > 0 then f.position_before + 1 end, f.position)::text,
      'type', f.type, 'currency', f.currency, 'amount', ${amountText(sql, sql`f.amount`, sql`f.currency`)},
      'before', ${amountText(sql, sql`f.carried`, sql`f.currency`)},
      'expected', ${amountText(sql, sql`f.expected`, sql`f.currency`)},
      'found', ${amountText(sql, sql`f.balance_after`, sql`f.currency`)},
      'held', f.held, 'occurredAt', ${instantText(sql, sql`f.occurred_at`)}) as evidence
  from first f`

export const runningBalance: CheckQuery = { checks: ["running-balance"], found }
