/**
 * Check 13: no event of the service came with several bodies. Only a warning, since events are hints and no figure comes from
 * them. The evidence has the digests of the bodies, never their content.
 *
 * A full sync that began after the last such event settles the finding: it has read whatever the event may have hidden. The
 * finding stays closed until another such event comes.
 */
import type { Sql } from "../../Database/Client.ts"
import type { CheckQuery } from "../Findings.ts"
import { type Fragment, inBooks, instantText, type Scope } from "../ReconcileScope.ts"

/** The most events in the evidence, the latest first; the count is always complete. */
const listed = 10
/** The most bodies listed per event. */
const bodiesListed = 5

/** Whether a full sync has read everything since; a reconciliation outside a run reads nothing. */
const settled = (sql: Sql, { full, runId }: Scope): Fragment =>
  full && runId !== null
    ? sql`exists (select from sync.runs r where r.run_id = ${runId} and r.started_at > e.last_at)`
    : sql`false`

const found = (sql: Sql, scope: Scope): Fragment => sql`
  select 'event-conflict' as check_name, c.book_id, 'connection' as subject_type, c.connection as subject_id, true as ripe,
    format('%s came with several bodies; the last: %s. Both are kept. A sync --full settles it.',
      case count(*) when 1 then '1 webhook event' else count(*) || ' webhook events' end,
      (array_agg(c.event_id order by c.place))[1]) as message,
    jsonb_build_object('count', count(*)::text, 'events', jsonb_agg(jsonb_build_object('eventId', c.event_id, 'type', c.type,
      'bodies', c.bodies) order by c.place) filter (where c.place <= ${listed})) as evidence
  from (
    select e.*, row_number() over (partition by e.book_id order by e.last_at desc, e.event_id) as place
    from (
      select b.book_id, b.connection, i.event_id, min(i.type) as type, max(i.received_at) as last_at,
        to_jsonb((array_agg(jsonb_build_object('digest', encode(i.digest, 'hex'), 'receivedAt',
          ${instantText(sql, sql`i.received_at`)}) order by i.received_at, i.digest))[1:${bodiesListed}::integer]) as bodies
      from mirror.books b
      join webhook.inbox i on i.connection = b.connection and i.conflict
      where b.book_id = ${inBooks(sql, scope)} and b.client_id is null
      group by b.book_id, b.connection, i.event_id) e
    where not ${settled(sql, scope)}
      and not exists (
        select from reconcile.findings f
        where f.book_id = e.book_id and f.check_name = 'event-conflict' and f.closed_at > e.last_at)) c
  group by c.book_id, c.connection`

export const conflictingEvents: CheckQuery = {
  checks: ["event-conflict"],
  found,
  mayFind: ({ conflicts }) => conflicts,
}
