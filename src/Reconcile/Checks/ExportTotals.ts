/**
 * Check 9: the control totals of a committed batch are what its numbered entries add up to in the ledger. A batch never
 * changes and neither do the entries that it covers, so that only new batches are looked at. Those in the base currency are
 * none of them: their entries are valued, not the ledger's, and an open month is valued again when it changes.
 */
import type { Sql } from "../../Database/Client.ts"
import type { CheckQuery } from "../Findings.ts"
import { amountText, type Fragment, inBooks, isEverything, openSubjects, type Scope } from "../Scope.ts"

/** A batch that was being committed while the last reconciliation ran may bear a time before it. */
const overlap = "1 day"

const batches = (sql: Sql, scope: Scope): Fragment => sql`
  select b.book_id, b.batch, b.scope, b.from_date, b.to_date, b.through_numbering, b.as_of, b.manifest::jsonb as manifest
  from export.batches b
  join reconcile.progress g on g.book_id = b.book_id
  where b.book_id = ${inBooks(sql, scope)} and b.manifest -> 'base' is null and (
    ${isEverything(scope)} or b.scope = ${scope.period}::text or b.committed_at > g.reconciled_at - ${overlap}::text::interval
    or (b.book_id, b.batch::text) in (
      select o.book_id, o.subject_id from (${openSubjects(sql, scope, "export-totals")}) o))`

/** What the batch says, and what the ledger says of the same entries; one row per currency. */
const both = (sql: Sql): Fragment => sql`
  select b.book_id, b.batch, t.currency, t.debit, t.credit, t.entries, false as ledger
  from batches b
  cross join lateral jsonb_to_recordset(b.manifest -> 'currencies')
    as t (currency text, debit numeric, credit numeric, entries bigint)
  union all
  select b.book_id, b.batch, l.*, true
  from batches b
  cross join lateral (
    select p.currency, sum(greatest(p.amount, 0)) as debit, sum(greatest(-p.amount, 0)) as credit,
      count(distinct n.entry_id) as entries
    from ledger.journal_numbers n
    join ledger.journal_entries j on j.book_id = n.book_id and j.entry_id = n.entry_id
    join ledger.postings p on p.book_id = n.book_id and p.entry_id = n.entry_id
    where n.book_id = b.book_id and n.numbering <= b.through_numbering
      and n.numbering > coalesce((b.manifest #>> '{scope,since}')::bigint, 0)
      and j.effective_date between coalesce(b.from_date, '-infinity') and coalesce(b.to_date, 'infinity')
      and n.period between coalesce(date_trunc('month', b.from_date::timestamp)::date, '-infinity')
        and coalesce(b.to_date, 'infinity')
      and not exists (
        select 1 from jsonb_to_recordset(coalesce(b.manifest #> '{scope,covered}', '[]'))
          as c ("from" date, "to" date, after bigint, through bigint)
        where j.effective_date between c."from" and c."to" and n.numbering > coalesce(c.after, 0)
          and n.numbering <= c.through)
      and (b.as_of is null or j.recorded_at <= b.as_of)
    group by p.currency) l`

const found = (sql: Sql, scope: Scope): Fragment => sql`
  with batches as materialized (${batches(sql, scope)}),
  figures as (
    select f.book_id, f.batch, f.currency,
      coalesce(sum(f.debit) filter (where not f.ledger), 0) as debit,
      coalesce(sum(f.credit) filter (where not f.ledger), 0) as credit,
      coalesce(sum(f.entries) filter (where not f.ledger), 0) as entries,
      coalesce(sum(f.debit) filter (where f.ledger), 0) as ledger_debit,
      coalesce(sum(f.credit) filter (where f.ledger), 0) as ledger_credit,
      coalesce(sum(f.entries) filter (where f.ledger), 0) as ledger_entries
    from (${both(sql)}) f group by f.book_id, f.batch, f.currency)
  select 'export-totals' as check_name, f.book_id, 'batch' as subject_type, f.batch::text as subject_id, true as ripe,
    format('Export batch %s (%s) does not agree with the ledger: %s.', f.batch, min(b.scope), string_agg(
      format('%s debits %s and %s, credits %s and %s, entries %s and %s', f.currency,
        ${amountText(sql, sql`f.debit`, sql`f.currency`)}, ${amountText(sql, sql`f.ledger_debit`, sql`f.currency`)},
        ${amountText(sql, sql`f.credit`, sql`f.currency`)}, ${amountText(sql, sql`f.ledger_credit`, sql`f.currency`)},
        f.entries, f.ledger_entries), '; ' order by f.currency)) as message,
    jsonb_build_object('scope', min(b.scope), 'currencies', jsonb_agg(jsonb_build_object('currency', f.currency,
      'debit', f.debit::text, 'credit', f.credit::text, 'entries', f.entries, 'ledgerDebit', f.ledger_debit::text,
      'ledgerCredit', f.ledger_credit::text, 'ledgerEntries', f.ledger_entries) order by f.currency)) as evidence
  from figures f join batches b on b.book_id = f.book_id and b.batch = f.batch
  where (f.debit, f.credit, f.entries) <> (f.ledger_debit, f.ledger_credit, f.ledger_entries)
  group by f.book_id, f.batch`

export const exportTotals: CheckQuery = { checks: ["export-totals"], found }
