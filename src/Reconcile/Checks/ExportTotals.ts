/**
 * Check 9: the control totals of a committed batch equal the sums of its numbered entries in the ledger. Neither a batch nor
 * the entries that it covers ever change, so a batch is checked once. Batches in the base currency are left to
 * `BaseExports.ts`: their amounts are not the ledger's, and an open month is valued again when it changes.
 */
import type { Sql } from "../../Database/Client.ts"
import type { CheckQuery } from "../Findings.ts"
import {
  amountText,
  type Fragment,
  inBooks,
  isEverything,
  openSubjects,
  type Scope,
} from "../ReconcileScope.ts"

/** Chosen first (offset 0): a manifest is long, and those of years of batches would be parsed in each run. */
const batches = (sql: Sql, scope: Scope): Fragment => sql`
  select b.book_id, b.batch, b.scope, b.manifest::jsonb as manifest,
    min(b.batch) over (partition by b.book_id, b.from_date, b.to_date, b.since_numbering, b.through_numbering,
      b.covered::text, b.as_of) as like_batch
  from (
    select b.* from export.batches b
    join reconcile.progress g on g.book_id = b.book_id
    where b.book_id = ${inBooks(sql, scope)} and b.currency_basis = 'native' and (
      ${isEverything(scope)} or b.scope = ${scope.period}::text or b.batch > g.through_batch
      or (b.book_id, b.batch::text) in (
        select o.book_id, o.subject_id from (${openSubjects(sql, scope, "export-totals")}) o)) offset 0) b
  where export.holds_journal(b.manifest)`

/** A command for several formats makes a batch of each: entries that they all cover are summed once, for the first of them. */
const sums = (sql: Sql): Fragment => sql`
  select b.book_id, b.batch, l.*
  from batches b
  cross join lateral (
    select e.currency, sum(e.debit) as debit, sum(e.credit) as credit, count(*) as entries
    from (
      select x.currency, sum(greatest(x.amount, 0)) as debit, sum(greatest(-x.amount, 0)) as credit
      from export.batch_lines x where x.book_id = b.book_id and x.batch = b.batch
      group by x.entry_id, x.currency) e
    group by e.currency) l
  where b.batch = b.like_batch`

/** The batch's totals and the ledger's for the same entries, of which some may be archived; one row per currency and place. */
const both = (sql: Sql): Fragment => sql`
  select b.book_id, b.batch, t.currency, t.debit, t.credit, t.entries, false as ledger
  from batches b
  cross join lateral jsonb_to_recordset(b.manifest -> 'currencies')
    as t (currency text, debit numeric, credit numeric, entries bigint)
  union all
  select b.book_id, b.batch, s.currency, s.debit, s.credit, s.entries, true
  from batches b
  join sums s on s.book_id = b.book_id and s.batch = b.like_batch
  union all
  select b.book_id, b.batch, t.currency, t.debit, t.credit, t.entries, true
  from batches b
  join export.archived_totals t on t.book_id = b.book_id and t.batch = b.batch`

const found = (sql: Sql, scope: Scope): Fragment => sql`
  with batches as materialized (${batches(sql, scope)}),
  sums as materialized (${sums(sql)}),
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

export const exportTotals: CheckQuery = {
  checks: ["export-totals"],
  found,
  mayFind: ({ batches }) => batches,
}
