/**
 * Check 3, in the other direction: every deposit, withdrawal and conversion that an entry names can be read. An entry that a
 * person has moved out of suspense no longer needs its resource.
 */
import type { Sql } from "../../Database/Client.ts"
import { movedByHand } from "../ByHand.ts"
import type { CheckQuery } from "../Findings.ts"
import {
  entriesInScope,
  type Fragment,
  inBooks,
  instantText,
  openSubjects,
  type Scope,
} from "../ReconcileScope.ts"

/** The statement entry `e`, where it is archived: it is explained in the archive. */
export const isArchived = (sql: Sql): Fragment => sql`
  exists (select 1 from ledger.archived_sources x where x.book_id = e.book_id and x.source_id = e.entry_id)`

const namedByBooks = (sql: Sql, scope: Scope): Fragment => sql`
  select e.book_id, e.related_type as resource_type, e.related_id as resource_id from mirror.statement_entries e
  where ${entriesInScope(sql, scope)} and not e.held and e.related_id is not null
    and e.related_type in ('DEPOSIT', 'WITHDRAWAL', 'CONVERSION')
    and not exists (select 1 from mirror.resources r where r.book_id = e.book_id and r.resource_id = e.related_id
                    and r.resource_type = e.related_type)
    and not ${isArchived(sql)}
  union
  select m.book_id, m.resource_type, m.resource_id from mirror.missing_resources m where m.book_id = ${inBooks(sql, scope)}
  union
  select o.book_id, mirror.upper_ascii(o.subject_type), o.subject_id::uuid
  from (${openSubjects(sql, scope, "missing-resource")}) o`

/**
 * What is named, with the first row of it that waits in quarantine. The rows are grouped with what they are about instead of being
 * looked up: no index knows their items, so that each look-up would go through all that wait.
 */
const named = (sql: Sql, scope: Scope): Fragment => sql`
  select k.book_id, k.resource_type, k.resource_id,
    (array_agg(array[k.path, k.reason] order by k.quarantine_id) filter (where k.quarantine_id is not null))[1:1] as waiting
  from (
    select n.book_id, n.resource_type, n.resource_id, null::bigint as quarantine_id, null as path, null as reason
    from (${namedByBooks(sql, scope)}) n
    union all
    select q.book_id, mirror.upper_ascii(rtrim(q.stream, 's')), mirror.uuid_or_null(q.item_id), q.quarantine_id, q.path, q.reason
    from mirror.open_quarantine q
    where q.book_id = ${inBooks(sql, scope)} and q.stream in ('deposits', 'withdrawals', 'conversions')
      and mirror.uuid_or_null(q.item_id) is not null) k
  group by k.book_id, k.resource_type, k.resource_id
  having bool_or(k.quarantine_id is null)`

const found = (sql: Sql, scope: Scope): Fragment => sql`
  select 'missing-resource' as check_name, n.book_id, mirror.lower_ascii(n.resource_type) as subject_type,
    n.resource_id::text as subject_id, true as ripe,
    format('The %s that %s is not known: %s. What it moved stands in suspense.', mirror.lower_ascii(n.resource_type),
      case s.entries when 1 then '1 statement entry names' else s.entries || ' statement entries name' end,
      case when a.file is not null then format('it is archived with %s, in %s', a.year, a.file)
        when n.waiting is not null then format('what the service sent could not be understood (%s %s)', n.waiting[1][1],
          n.waiting[1][2])
        when m.tries is null then 'the service has not been asked for it'
        else format('the service has answered that there is none, %s', case m.tries when 1 then 'once'
          else m.tries || ' times' end) end) as message,
    jsonb_build_object('entries', s.listed, 'count', s.entries, 'tries', m.tries,
      'firstMissedAt', ${instantText(sql, sql`m.first_missed_at`)},
      'occurredAt', ${instantText(sql, sql`s.occurred_at`)}) as evidence
  from (${named(sql, scope)}) n
  cross join lateral (
    select count(*) as entries, max(e.occurred_at) as occurred_at,
      jsonb_agg(jsonb_build_object('entryId', e.entry_id, 'accountId', e.account_id, 'type', e.type,
        'amount', e.amount::text, 'currency', e.currency) order by e.account_id, e.position) as listed
    from mirror.statement_entries e
    where e.book_id = n.book_id and e.related_id = n.resource_id and e.related_type = n.resource_type and not e.held
      and not ${movedByHand(sql, sql`e.book_id`, sql`e.entry_id`)} and not ${isArchived(sql)}) s
  left join lateral (
    select k.year, k.file from mirror.archived_resources z
    join ledger.archives k on k.book_id = z.book_id and k.year = z.year
    where z.book_id = n.book_id and z.resource_id = n.resource_id and z.resource_type = n.resource_type) a on true
  left join mirror.missing_resources m on m.book_id = n.book_id and m.resource_id = n.resource_id
    and m.resource_type = n.resource_type
  where s.entries > 0 and not exists (
    select 1 from mirror.resources r where r.book_id = n.book_id and r.resource_id = n.resource_id
      and r.resource_type = n.resource_type)`

export const missingResource: CheckQuery = {
  checks: ["missing-resource"],
  found,
  mayFind: ({ entries, missing }) => entries || missing,
}
