/**
 * Check 8: no statement entry was read with two different contents. The books keep the first; both are in the evidence. That an entry is
 * gone stands until a reading shows it.
 */
import type { Sql } from "../../Database/Client.ts"
import type { CheckQuery } from "../Findings.ts"
import { type Fragment, inBooks, instantText, type Scope } from "../ReconcileScope.ts"

/** It says that the entry was gone, or was shown again, instead of a content. */
const isMark = (sql: Sql, content: Fragment): Fragment =>
  sql`(${content} like '{"absent":true%' or ${content} like '{"shown":true%')`

const found = (sql: Sql, scope: Scope): Fragment => sql`
  select 'contradiction' as check_name, c.book_id, coalesce(mirror.lower_ascii(r.resource_type), 'statement_entry') as subject_type,
    c.entry_id::text as subject_id, true as ripe,
    case when r.resource_id is not null
      then format('The %s, which is archived with %s, was read again with other figures. The books keep what was read before.',
        mirror.lower_ascii(r.resource_type), r.year)
      when c.absent
      then format('The statement entry at position %s was missing when its statement was read again. The books keep it.',
        coalesce(e.position::text, '?'))
      else format('The statement entry at position %s was read again with another content: %s differs. The books keep what was read first.',
        coalesce(e.position::text, '?'), coalesce(c.fields, 'something')) end as message,
    jsonb_build_object('accountId', c.account_id, 'position', e.position::text,
      'kept', jsonb_build_object('entryId', e.entry_id, 'accountId', e.account_id, 'type', e.type,
        'amount', trim_scale(e.amount)::text, 'currency', e.currency, 'balanceAfter', trim_scale(e.balance_after)::text,
        'relatedResourceType', e.related_type, 'relatedResourceId', e.related_id,
        'occurredAt', ${instantText(sql, sql`e.occurred_at`)}),
      'readAgain', c.contents, 'occurredAt', ${instantText(sql, sql`e.occurred_at`)}) as evidence
  from (
    select k.book_id, k.entry_id, min(k.account_id::text) as account_id,
      jsonb_agg(jsonb_build_object('content', k.content::jsonb, 'firstSeenAt', ${instantText(sql, sql`k.first_seen_at`)},
        'runId', k.run_id) order by k.first_seen_at, k.digest) as contents,
      bool_and(k.content like '{"absent":true%') as absent,
      (select string_agg(distinct d.field, ', ' order by d.field)
       from mirror.contradictions o
       join mirror.statement_entries e on e.book_id = o.book_id and e.entry_id = o.entry_id
       cross join lateral (values
         ('accountId', e.account_id::text = o.content::jsonb ->> 'accountId'),
         ('type', e.type = o.content::jsonb ->> 'type'),
         ('amount', e.amount = (o.content::jsonb ->> 'amount')::numeric),
         ('currency', e.currency = o.content::jsonb ->> 'currency'),
         ('balanceAfter', e.balance_after = (o.content::jsonb ->> 'balanceAfter')::numeric),
         ('relatedResourceType', e.related_type is not distinct from o.content::jsonb ->> 'relatedResourceType'),
         ('relatedResourceId', e.related_id::text is not distinct from o.content::jsonb ->> 'relatedResourceId'),
         ('occurredAt', e.occurred_at = (o.content::jsonb ->> 'occurredAt')::timestamptz)) d (field, same)
       where o.book_id = k.book_id and o.entry_id = k.entry_id and d.same is not true
         and not ${isMark(sql, sql`o.content`)}) as fields
    from mirror.contradictions k where k.book_id = ${inBooks(sql, scope)} and (not ${isMark(sql, sql`k.content`)} or exists (
      select from mirror.gone_entries g
      where g.book_id = k.book_id and g.entry_id = k.entry_id and g.run_id = k.run_id and g.first_seen_at = k.first_seen_at))
    group by k.book_id, k.entry_id) c
  left join mirror.statement_entries e on e.book_id = c.book_id and e.entry_id = c.entry_id
  left join mirror.archived_resources r on e.entry_id is null and r.book_id = c.book_id and r.resource_id = c.entry_id`

export const contradiction: CheckQuery = {
  checks: ["contradiction"],
  found,
  mayFind: ({ contradictions }) => contradictions,
}
