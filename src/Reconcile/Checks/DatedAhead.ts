/**
 * What the service dates more than a month after it was read. The books take the service's dates, so such money is missing in every
 * month that is closed meanwhile, and no other check would say so.
 */
import type { Sql } from "../../Database/Client.ts"
import type { CheckQuery } from "../Findings.ts"
import {
  agedAt,
  entriesInScope,
  type Fragment,
  inBooks,
  openSubjects,
  type Scope,
  sumText,
} from "../ReconcileScope.ts"

/** Whether a journal entry `j` was dated so when it was booked, and is still. */
const isAhead = (sql: Sql, scope: Scope): Fragment => sql`
  (j.occurred_at > ${agedAt(sql, scope, sql`j.book_id`)} and j.occurred_at > j.recorded_at + interval '31 days')`

const message = (sql: Sql, what: Fragment): Fragment => sql`
  format('%s is dated %s, though it was read on %s: the books have it in %s.', ${what}, j.effective_date,
    (j.recorded_at at time zone 'UTC')::date, to_char(j.effective_date, 'YYYY-MM'))`

const evidence = (sql: Sql): Fragment => sql`
  jsonb_build_object('dated', j.effective_date::text, 'read', (j.recorded_at at time zone 'UTC')::date::text)`

const entries = (sql: Sql, scope: Scope): Fragment => sql`
  select 'dated-ahead' as check_name, e.book_id, 'statement_entry' as subject_type, e.entry_id::text as subject_id,
    true as ripe, ${message(sql, sql`format('The %s of %s', e.type, ${sumText(sql, sql`e.amount`, sql`e.currency`)})`)} as message,
    jsonb_build_object('accountId', e.account_id, 'position', e.position::text, 'currency', e.currency,
      'amount', e.amount::text) || ${evidence(sql)} as evidence
  from (
    select e.book_id, e.entry_id from mirror.statement_entries e where e.occurred_at > ${agedAt(sql, scope, sql`e.book_id`)} and ${entriesInScope(sql, scope)}
    union
    select o.book_id, o.subject_id::uuid from (${openSubjects(sql, scope, "dated-ahead")}) o
    where o.subject_type = 'statement_entry') c
  join mirror.statement_entries e on e.book_id = c.book_id and e.entry_id = c.entry_id
  join ledger.journal_entries j on j.book_id = e.book_id and j.source_id = e.entry_id and j.source_type = 'statement_entry'
    and j.sequence = 0
  where e.book_id = ${inBooks(sql, scope)} and j.book_id = ${inBooks(sql, scope)} and ${isAhead(sql, scope)}`

/** By the part that is dated last. */
const receivables = (sql: Sql, scope: Scope): Fragment => sql`
  (select distinct on (j.book_id, j.source_id) 'dated-ahead', j.book_id, 'receivable', j.source_id::text, true,
    ${message(sql, sql`'Part of the receivable ' || j.source_id`)},
    jsonb_build_object('receivableId', j.source_id) || ${evidence(sql)}
  from (
    select j.book_id, j.source_id from ledger.journal_entries j
    where j.book_id = ${inBooks(sql, scope)} and j.source_type = 'receivable_version' and j.sequence > 0 and j.occurred_at > ${agedAt(sql, scope, sql`j.book_id`)}
      ${scope.sinceRun === null ? sql`` : sql`and j.run_id > ${scope.sinceRun}`}
    union
    select o.book_id, o.subject_id::uuid from (${openSubjects(sql, scope, "dated-ahead")}) o
    where o.subject_type = 'receivable') c
  join ledger.journal_entries j on j.book_id = c.book_id and j.source_id = c.source_id and j.source_type = 'receivable_version'
  where j.book_id = ${inBooks(sql, scope)} and ${isAhead(sql, scope)}
  order by j.book_id, j.source_id, j.occurred_at desc, j.sequence)`

export const datedAhead: CheckQuery = {
  checks: ["dated-ahead"],
  found: (sql, scope) => sql`${entries(sql, scope)} union all ${receivables(sql, scope)}`,
  mayFind: ({ entries: anyEntries, moves }) => anyEntries || moves,
}
