/**
 * Entries without a resource, and entries whose resource has an unknown type, while they stand in suspense. A posting rule or a
 * reclassification that moves them to another account settles the finding. Payouts have no resource to read.
 */
import type { Sql } from "../../Database/Client.ts"
import type { CheckQuery } from "../Findings.ts"
import {
  entriesInScope,
  type Fragment,
  inBooks,
  instantText,
  openSubjects,
  type Scope,
  sumText,
} from "../ReconcileScope.ts"

/** Condition on an entry `e`: it names no resource, or one that cannot exist: of an unknown type, or without an identifier. */
const namesNone = (sql: Sql): Fragment => sql`
  (e.related_type is null or e.related_type not in ('DEPOSIT', 'WITHDRAWAL', 'CONVERSION', 'PAYOUT')
    or e.related_id is null and e.related_type <> 'PAYOUT')`

const checks = ["adjustment", "unclassified-entry"] as const

const open = (sql: Sql, scope: Scope): Fragment => sql`
  select o.book_id, o.subject_id from (${openSubjects(sql, scope, ...checks)}) o`

/**
 * The entries that later runs read, and those that they moved; in a check of everything, also open ones. Only a journal entry
 * of a run changes what stands in suspense (a person's command is such a run), so open items cost nothing from one night to the
 * next.
 */
const covered = (sql: Sql, scope: Scope): Fragment => sql`
  select e.book_id, e.entry_id::text as subject_id from mirror.statement_entries e
  where ${entriesInScope(sql, scope)} and not e.held and ${namesNone(sql)}
  union
  ${
    scope.sinceRun === null
      ? open(sql, scope)
      : sql`
  select j.book_id, j.source_id::text from ledger.journal_entries j
  where j.book_id = ${inBooks(sql, scope)} and j.run_id > ${scope.sinceRun} and j.sequence > 0
    and j.source_type in ('statement_entry', 'manual')`
  }`

const found = (sql: Sql, scope: Scope): Fragment => sql`
  select case when e.related_type is null then 'adjustment' else 'unclassified-entry' end as check_name, e.book_id,
    'statement_entry' as subject_type, e.entry_id::text as subject_id, true as ripe,
    case when e.related_type is null
        then format('Adjustment without a resource: %s of %s', e.type, ${sumText(sql, sql`e.amount`, sql`e.currency`)})
      when e.related_id is null
        then format('%s of %s naming a %s without saying which', e.type, ${sumText(sql, sql`e.amount`, sql`e.currency`)},
          mirror.lower_ascii(e.related_type))
      else format('%s of %s naming a resource of the unknown type %s', e.type,
        ${sumText(sql, sql`e.amount`, sql`e.currency`)}, left(to_json(e.related_type)::text, 60))
    end || ' stands in suspense until it is reclassified.' as message,
    jsonb_build_object('accountId', e.account_id, 'position', e.position::text, 'type', e.type,
      'amount', e.amount::text, 'currency', e.currency, 'suspense', s.amount::text,
      'relatedType', e.related_type, 'relatedId', e.related_id,
      'occurredAt', ${instantText(sql, sql`e.occurred_at`)}) as evidence
  from covered c
  join mirror.statement_entries e on e.book_id = c.book_id and e.entry_id = c.subject_id::uuid
  cross join lateral (
    select sum(p.amount) as amount
    from ledger.journal_entries j
    join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
    join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
    where j.book_id = e.book_id and j.source_id = e.entry_id and a.role = 'suspense' and a.rule_code = '') s
  where s.amount <> 0 and (${namesNone(sql)} or (e.book_id, e.entry_id::text) in (${open(sql, scope)}))`

export const suspense: CheckQuery = {
  checks,
  covered,
  found,
  mayFind: ({ entries, moves }) => entries || moves,
}
