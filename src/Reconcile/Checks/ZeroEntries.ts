/** Entries of amount zero: mirrored at their position but not booked. A warning until their month is closed. */
import type { Sql } from "../../Database/Client.ts"
import type { CheckQuery } from "../Findings.ts"
import {
  entriesInScope,
  type Fragment,
  inBooks,
  instantText,
  openSubjects,
  type Scope,
} from "../ReconcileScope.ts"

const found = (sql: Sql, scope: Scope): Fragment => sql`
  with chosen as (
    select e.book_id, e.entry_id from mirror.statement_entries e where e.amount = 0 and ${entriesInScope(sql, scope)}
    union
    select o.book_id, o.subject_id::uuid from (${openSubjects(sql, scope, "zero-entry")}) o)
  select 'zero-entry' as check_name, e.book_id, 'statement_entry' as subject_type, e.entry_id::text as subject_id,
    true as ripe,
    format('The statement entry at position %s is of amount 0 %s: it moves nothing, and nothing of it is in the books.',
      e.position, e.currency) as message,
    jsonb_build_object('accountId', e.account_id, 'position', e.position::text, 'type', e.type,
      'currency', e.currency, 'relatedResourceType', e.related_type, 'relatedResourceId', e.related_id,
      'occurredAt', ${instantText(sql, sql`e.occurred_at`)}) as evidence
  from chosen c
  join mirror.statement_entries e on e.book_id = c.book_id and e.entry_id = c.entry_id
  join ledger.locks l on l.book_id = e.book_id
  where e.book_id = ${inBooks(sql, scope)} and not e.held
    and ledger.late_for(e.occurred_at, l.time_zone, l.closed_through) is null`

export const zeroEntries: CheckQuery = { checks: ["zero-entry"], found, mayFind: ({ entries }) => entries }
