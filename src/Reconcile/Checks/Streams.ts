/**
 * Check 11: every stream of a configured surface can be read, and each was read to its end, by the service's clock, after the
 * month that is about to be closed; what was read of receivables is booked. A surface with postings counts even if the settings
 * no longer have it. Pairs, rails, the address book, instructions and keys are no streams; nor is a list that the default profile
 * leaves out: its resources are named by entries, or read one by one while they are not final.
 */

import { readableClientStatuses } from "../../Common/ClientStatus.ts"
import type { Sql } from "../../Database/Client.ts"
import { textArray } from "../../Database/TextArray.ts"
import type { CheckQuery } from "../Findings.ts"
import { type Fragment, inBooks, openSubjects, type Scope } from "../ReconcileScope.ts"

/** The roles that only receivables post to. */
const loans =
  "{receivable_principal,receivable_interest,loan_payable,interest_payable,deferred_interest,loan_clearing}"

/**
 * The streams that must exist, whether or not they were ever read, each with the end of the month that is to be closed, if it is
 * over, and whether the settings still have a surface that reads it.
 */
export const expected = (sql: Sql, scope: Pick<Scope, "books" | "surfaces" | "closing">): Fragment => sql`
  configured as (
    select c ->> 'connection' as connection, c ->> 'surface' as surface
    from json_array_elements(${JSON.stringify(scope.surfaces)}::text::json) c),
  looked as (
    select b.book_id, b.connection, b.client_id,
      exists (select 1 from mirror.accounts a where a.book_id = b.book_id) as holds,
      array(select c.surface from configured c where c.connection = b.connection) as surfaces,
      case when b.client_id is null then 'organization' else 'client' end as surface,
      case when e.ends <= now() then e.ends end as ends
    from mirror.books b
    left join ledger.locks k on k.book_id = b.book_id
    cross join lateral (
      select ledger.begin_of_day(((${scope.closing === null ? null : `${scope.closing}-01`}::text)::date + interval '1 month')::date,
        k.time_zone) as ends) e
    where b.book_id = ${inBooks(sql, scope)}),
  lists as (
    select l.book_id, l.ends, x.stream, false as has_left, x.read_by && l.surfaces as configured
    from looked l
    cross join lateral (
      select s.stream, array['organization'] as read_by from (values ('accounts'), ('deposits'), ('withdrawals')) s (stream)
      where 'organization' = any (l.surfaces) or l.holds
      union all
      select s.stream, array['credit'] from (values ('receivables'), ('credit_accounts')) s (stream)
      where 'credit' = any (l.surfaces) or exists (
        select 1 from mirror.books o join ledger.accounts r on r.book_id = o.book_id
        where o.connection = l.connection and r.role = any (${loans}::text[]))
      union all
      select 'clients', array['client', 'credit'] where l.surfaces && array['client', 'credit'] or exists (
        select 1 from mirror.books o join mirror.accounts a on a.book_id = o.book_id
        where o.connection = l.connection and o.client_id is not null)) x
    where l.client_id is null
    union all
    select l.book_id, l.ends, 'accounts', false, l.surface = any (l.surfaces) from looked l
    where l.client_id is not null and (l.holds or 'client' = any (l.surfaces) and exists (
      select 1 from mirror.books o
      join mirror.reference_items i on i.book_id = o.book_id and i.kind = 'client' and i.current
        and i.item_id = l.client_id::text and i.raw ->> 'status' = any (${textArray(sql, readableClientStatuses)})
      where o.connection = l.connection and o.client_id is null
        -- It may have left the list since.
        and not exists (
          select from sync.stream_reads r where r.book_id = l.book_id and r.stream = 'accounts' and r.trouble = 'Inactive')))
    union all
    select l.book_id, l.ends, 'statement:' || a.account_id, reconcile.has_left(a.unlisted_since, a.status),
      l.surface = any (l.surfaces)
    from looked l join mirror.accounts a on a.book_id = l.book_id),
  asked as (
    -- A read that a close required stays required until it happens: the finding keeps its number from one close to the next.
    select o.book_id, o.subject_id as stream, (o.evidence ->> 'readAfter')::timestamptz as read_after
    from (${openSubjects(sql, scope, "stream-unread")}) o),
  gone as (select g.book_id from reconcile.gone_clients g where g.book_id = ${inBooks(sql, scope)})`

/** What no command will read by these settings, so that the advice to do so would lead nowhere. */
const leftOutText = (sql: Sql, isLeftOut: Fragment, connection: Fragment): Fragment => sql`
  case when ${isLeftOut} then format(' The settings leave it out (connections.%s.surfaces).', ${connection}) else '' end`

const leftOut = (sql: Sql, isLeftOut: Fragment): Fragment =>
  sql`case when ${isLeftOut} then '{"leftOut": true}' else '{}' end::jsonb`

/** The evidence `s` of the last reads of each stream `e`, looked up one by one: a join may compare each stream with all of them. */
export const standing = (sql: Sql): Fragment => sql`
  left join lateral (
    select r.began_at, r.ended_at, r.run_id, r.trouble, r.status, r.detail, r.failing_since,
      reconcile.is_unreadable(r.trouble) as unreadable, reconcile.is_gone(e.has_left, r.trouble) as gone
    from sync.stream_reads r where r.book_id = e.book_id and r.stream = e.stream offset 0) s on true`

const text = (sql: Sql, at: Fragment): Fragment =>
  sql`to_char(${at} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`

const lists = (sql: Sql): Fragment => sql`
  select n.book_id, n.stream,
    case when n.stream like 'statement:%' then 'The statement of account ' || substr(n.stream, 11)
      else 'The list of ' || replace(n.stream, '_', ' ') end || case
      when n.trouble = 'NoPath' then format(
        ' is left out by the settings (interface.paths) since %s; it %s.', n.failing, n.known)
      when n.unreadable then format(' answers %s since %s; it %s.', n.status, n.failing, n.known)
      else ' ' || n.known || coalesce('. The last try failed: ' || n.detail, '') || '.' end
      || ${leftOutText(sql, sql`n.left_out`, sql`n.connection`)} as message,
    jsonb_build_object('stream', n.stream, 'readAfter', n.read_after, 'beganAt', n.began, 'runId', n.run_id,
      'trouble', n.trouble, 'status', n.status, 'failingSince', n.failing, 'unreadable', n.unreadable)
      || ${leftOut(sql, sql`n.left_out`)} as evidence
  from (
    select e.book_id, b.connection, e.stream, not e.configured as left_out, coalesce(s.unreadable, false) as unreadable, s.trouble, s.status, s.detail, s.run_id,
      ${text(sql, sql`s.began_at`)} as began, ${text(sql, sql`s.failing_since`)} as failing,
      ${text(sql, sql`a.read_after`)} as read_after,
      case
        when s.ended_at is null and s.trouble is null and not exists (
            select 1 from sync.checkpoints p where p.book_id = e.book_id and p.stream = e.stream)
          then 'has never been asked for'
        when s.ended_at is null then 'has never been read to its end'
        when s.began_at is null then format(
          'was read to its end by run %s, but the service did not say when (no Date header)', s.run_id)
        when a.read_after is null or s.began_at >= a.read_after
          then format('was last read to its end on %s', ${text(sql, sql`s.began_at`)})
        else format('was last read to its end on %s, before the month was over (%s)', ${text(sql, sql`s.began_at`)},
          ${text(sql, sql`a.read_after`)}) end as known
    from lists e
    join mirror.books b on b.book_id = e.book_id
    ${standing(sql)}
    left join asked o on o.book_id = e.book_id and o.stream = e.stream
    cross join lateral (select greatest(o.read_after, e.ends) as read_after) a
    where not coalesce(s.gone, false) and e.book_id not in (select g.book_id from gone g)
      and (coalesce(s.unreadable, false) or a.read_after is not null
        and (s.began_at is null or s.began_at < a.read_after))) n`

/** Movements that are not final are read one by one, whether or not there is a list; not those of an account that is gone. */
const movements = (sql: Sql, scope: Scope): Fragment => {
  const isLeftOut = sql`not l.surface = any (l.surfaces)`
  return sql`
  select r.book_id, 'open_movements' as stream,
    format('%s not been read since the month was over (%s).', case count(*) when 1 then '1 movement that is not final has'
      else count(*) || ' movements that are not final have' end, ${text(sql, sql`a.read_after`)})
      || ${leftOutText(sql, isLeftOut, sql`l.connection`)} as message,
    jsonb_build_object('stream', 'open_movements', 'readAfter', ${text(sql, sql`a.read_after`)},
      'beganAt', ${text(sql, sql`min(r.read_at)`)}, 'unreadable', false, 'count', count(*),
      'first', (array_agg(mirror.lower_ascii(r.resource_type) || ' ' || r.resource_id order by r.created_at, r.resource_id))[1:20])
      || ${leftOut(sql, isLeftOut)} as evidence
  from looked l
  left join asked o on o.book_id = l.book_id and o.stream = 'open_movements'
  cross join lateral (select greatest(o.read_after, l.ends) as read_after) a
  join mirror.resources r on r.book_id = l.book_id and r.book_id = ${inBooks(sql, scope)} and not r.final and r.created_at < a.read_after
    and r.read_at < a.read_after
  where l.book_id not in (select g.book_id from gone g)
    and not exists (
      select from reconcile.statement_standing g
      where g.book_id = r.book_id and g.account_id = r.account_id and g.gone offset 0)
  group by r.book_id, a.read_after, l.connection, l.surface, l.surfaces`
}

/**
 * What a run that was stopped has read of receivables and did not book: a list that was read to its end proves nothing of the
 * books then.
 */
const receivables = (sql: Sql, scope: Scope): Fragment => sql`
  select l.book_id, 'receivables_to_book' as stream,
    format('%s read and not booked: a complete sync books %s.', case count(*) when 1 then '1 receivable was'
      else count(*) || ' receivables were' end, case count(*) when 1 then 'it' else 'them' end) as message,
    jsonb_build_object('stream', 'receivables_to_book', 'beganAt', null, 'unreadable', false, 'count', count(*),
      'first', (array_agg('receivable ' || w.receivable_id order by w.receivable_id))[1:20]) as evidence
  from looked l
  cross join lateral (
    select v.receivable_id from mirror.books o
    join mirror.receivables v on v.book_id = o.book_id and not v.posted
      and ${scope.lends ? sql`l.client_id is null` : sql`v.client_id = l.client_id`}
    where o.connection = l.connection and o.client_id is null) w
  where (l.ends is not null or exists (
      select from asked o where o.book_id = l.book_id and o.stream = 'receivables_to_book'))
    and l.book_id not in (select g.book_id from gone g)
  group by l.book_id`

const found = (sql: Sql, scope: Scope): Fragment => sql`
  with ${expected(sql, scope)}
  select 'stream-unread' as check_name, u.book_id, 'stream' as subject_type, u.stream as subject_id, true as ripe,
    u.message, u.evidence
  from (${lists(sql)} union all ${movements(sql, scope)} union all ${receivables(sql, scope)}) u`

export const streams: CheckQuery = { checks: ["stream-unread"], found }
