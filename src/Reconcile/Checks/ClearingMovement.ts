/** Every posting in the clearing of deposits and withdrawals names a movement that the mirror holds. */
import type { Sql } from "../../Database/Client.ts"
import type { CheckQuery } from "../Findings.ts"
import {
  entriesInScope,
  type Fragment,
  instantText,
  openSubjects,
  type Scope,
  sumText,
} from "../ReconcileScope.ts"

/**
 * The mirror holds no movement for the entry. Such entries are few, so they are selected before their postings are looked up.
 */
const unexplained = (sql: Sql): Fragment => sql`
  not e.held and not exists (
    select 1 from mirror.resources r
    where r.book_id = e.book_id and r.resource_id = e.related_id and r.resource_type = e.related_type)`

const found = (sql: Sql, scope: Scope): Fragment => sql`
  select 'clearing-movement' as check_name, e.book_id, 'statement_entry' as subject_type, e.entry_id::text as subject_id,
    true as ripe,
    format('%s of %s stands in clearing, and no deposit or withdrawal explains it.', e.type,
      ${sumText(sql, sql`e.amount`, sql`e.currency`)}) as message,
    jsonb_build_object('accountId', e.account_id, 'position', e.position::text, 'clearing', s.amount::text,
      'currency', e.currency, 'occurredAt', ${instantText(sql, sql`e.occurred_at`)}) as evidence
  from (
    select e.book_id, e.entry_id from mirror.statement_entries e
    where ${entriesInScope(sql, scope)} and ${unexplained(sql)}
    union
    select o.book_id, o.subject_id::uuid from (${openSubjects(sql, scope, "clearing-movement")}) o) c
  join mirror.statement_entries e on e.book_id = c.book_id and e.entry_id = c.entry_id
  cross join lateral (
    select sum(p.amount) as amount
    from ledger.journal_entries j
    join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
    join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
    where j.book_id = e.book_id and j.source_id = e.entry_id and a.role in ('deposits_clearing', 'withdrawals_clearing')
      and a.rule_code = '') s
  where s.amount <> 0 and ${unexplained(sql)}`

export const clearingMovement: CheckQuery = {
  checks: ["clearing-movement"],
  found,
  mayFind: ({ entries }) => entries,
}
