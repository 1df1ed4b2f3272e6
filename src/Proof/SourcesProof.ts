/** Compares the state of months, and the sources that journal entries and batches name, with those sources. */
import { entryName, type ProofQuery } from "./ProofQuery.ts"

export const periods: ProofQuery = {
  name: "periods",
  proves: "Every month is closed since the close that stands, and open where none does.",
  wrong: (sql) => sql`
    select b.code as book, to_char(p.period, 'YYYY-MM') as row,
      format('is %s since %s; its last %s was on %s', p.status, coalesce(p.closed_at::text, 'its beginning'),
        coalesce(c.action, 'close'), coalesce(c.at::text, 'no day')) as message
    from ledger.periods p
    join mirror.books b on b.book_id = p.book_id
    left join lateral (
      select k.action, k.at from ledger.closes k where k.book_id = p.book_id and k.period = p.period
      order by k.sequence desc limit 1) c on true
    where (p.status, p.closed_at) is distinct from
      (case c.action when 'close' then 'closed' else 'open' end, case c.action when 'close' then c.at end)
    union all
    select b.code, 'the book', format('is closed through %s; its last closed month is %s', coalesce(to_char(l.closed_through,
      'YYYY-MM'), 'no month'), coalesce(to_char(p.last, 'YYYY-MM'), 'none'))
    from ledger.locks l
    join mirror.books b on b.book_id = l.book_id
    left join (
      select book_id, max(period) filter (where status = 'closed') as last from ledger.periods group by book_id) p
      on p.book_id = l.book_id
    where l.closed_through is distinct from p.last`,
}

/** A statement entry may have been booked before it named its resource: what it said before is a version of it. */
export const sources: ProofQuery = {
  name: "entry-source",
  proves:
    "Every journal entry is of something that was read; that of a statement entry has its account, place and time, a loan's accrual the time of an answer, and a reversal the entry of its conversion that it takes back.",
  wrong: (sql) => sql`
    select b.code as book, ${entryName(sql)} as row,
      format('is of account %s, place %s, %s, %s; statement entry %s is of account %s, place %s, %s, %s', j.partner_account_id,
        j.position, j.occurred_at, coalesce(j.resource_id::text, 'no resource'), e.entry_id, e.account_id, e.position,
        e.occurred_at, coalesce(e.related_id::text, 'no resource')) as message
    from ledger.journal_entries j
    join mirror.statement_entries e on e.book_id = j.book_id and e.entry_id = j.source_id
    join mirror.books b on b.book_id = j.book_id
    where j.source_type = 'statement_entry' and j.sequence = 0
      and ((j.partner_account_id, j.position, j.occurred_at) is distinct from (e.account_id, e.position, e.occurred_at)
        or j.resource_id <> e.related_id or j.resource_type <> e.related_type
        or ((j.resource_id is null) <> (e.related_id is null) or (j.resource_type is null) <> (e.related_type is null))
          and not exists (
          select 1 from mirror.statement_entry_versions v where v.book_id = e.book_id and v.entry_id = e.entry_id))
    union all
    -- Read for the organization, booked in the borrower's book.
    select b.code, ${entryName(sql)}, format('is the %s of a receivable on %s, when the service answered with no version of it',
      j.kind, j.occurred_at)
    from ledger.journal_entries j
    join mirror.books b on b.book_id = j.book_id
    where j.source_type = 'receivable_version' and j.kind in ('accrual', 'cancellation') and not exists (
      select 1 from mirror.books o join mirror.receivables r on r.book_id = o.book_id
      where o.connection = b.connection and o.client_id is null and r.receivable_id = j.source_id
        and r.served_at = j.occurred_at)
    union all
    select b.code, ${entryName(sql)}, case j.kind when 'conversion_reversal' then 'reverses no entry of its conversion'
      else format('says that it reverses another entry, which %s entries do not', j.kind) end
    from ledger.journal_entries j
    join mirror.books b on b.book_id = j.book_id
    where case j.kind when 'conversion_reversal' then not exists (
        select 1 from ledger.journal_entries o where o.book_id = j.book_id and o.entry_id = j.reverses
          and o.source_id = j.source_id and o.kind = 'conversion_whole')
      else j.reverses is not null end
    union all
    select b.code, ${entryName(sql)}, format('is of %s %s, which nobody has read', j.source_type, j.source_id)
    from ledger.journal_entries j
    join mirror.books b on b.book_id = j.book_id
    where case j.source_type
      when 'statement_entry' then not exists (
        select 1 from mirror.statement_entries e where e.book_id = j.book_id and e.entry_id = j.source_id and not e.held)
      when 'opening' then not exists (
        select 1 from mirror.accounts a where a.book_id = j.book_id and a.account_id in (j.source_id, j.partner_account_id))
      when 'resource_version' then not exists (
        select 1 from mirror.resources r where r.book_id = j.book_id and r.resource_id = j.source_id)
      when 'receivable_version' then not exists (
        select 1 from mirror.books o join mirror.receivables r on r.book_id = o.book_id
        where o.connection = b.connection and o.client_id is null and r.receivable_id = j.source_id)
      -- A reclassification by hand moves something that is booked.
      else not exists (
        select 1 from ledger.journal_entries o
        where o.book_id = j.book_id and o.source_id = j.source_id and o.source_type <> 'manual') end`,
}

export const manifests: ProofQuery = {
  name: "batch-manifests",
  proves: "Every batch is what its manifest says, and what became of it is what may become of a batch.",
  wrong: (sql) => sql`
    select b.code as book, format('batch %s', x.batch) as row, 'covers other entries than its manifest states' as message
    from export.batches x
    join mirror.books b on b.book_id = x.book_id
    -- Read once for all that it is asked (offset 0): it may be long.
    cross join lateral (select x.manifest::jsonb as said offset 0) m
    where (x.scope, x.from_date::text, x.to_date::text, x.through_numbering::text, to_jsonb(x.formats), x.since_numbering::text)
      is distinct from
      (m.said -> 'scope' ->> 'text', m.said -> 'scope' ->> 'from', m.said -> 'scope' ->> 'to', m.said ->> 'throughNumbering',
        m.said -> 'formats', coalesce(m.said -> 'scope' ->> 'since', '0'))
      or x.preview <> (coalesce(m.said -> 'lineage' ->> 'state', '') = 'preview')
      or x.currency_basis <> coalesce(m.said -> 'lineage' ->> 'currencyBasis', 'native')
      or x.as_of is distinct from (m.said -> 'scope' ->> 'asOf')::timestamptz
      or x.covered::jsonb is distinct from coalesce(m.said -> 'scope' -> 'covered', '[]')
    union all
    select b.code, format('batch %s', s.batch), format('does not say that it was superseded, as batch %s did by its manifest', x.batch)
    from export.batches x
    join mirror.books b on b.book_id = x.book_id
    cross join lateral jsonb_array_elements_text(coalesce(x.manifest::jsonb #> '{lineage,supersedes}', '[]')) s (batch)
    -- A preview supersedes none until it is committed.
    where (not x.preview or exists (
        select 1 from export.batch_states c where c.book_id = x.book_id and c.batch = x.batch and c.state = 'committed'))
      and not exists (
        select 1 from export.batch_states t
        where t.book_id = x.book_id and t.batch::text = s.batch and t.state = 'superseded')
    union all
    select b.code, format('batch %s', t.batch), format('says that batch %s superseded it, which that one''s manifest does not', t.by_batch)
    from export.batch_states t
    join mirror.books b on b.book_id = t.book_id
    where t.by_batch is not null and not exists (
      select 1 from export.batches x
      where x.book_id = t.book_id and x.batch = t.by_batch
        and x.manifest::jsonb #> '{lineage,supersedes}' @> to_jsonb(t.batch))
    union all
    select b.code, format('batch %s', s.batch), format('became %s after it was %s', s.state, s.before)
    from (
      select s.book_id, s.batch, s.sequence, s.state,
        row_number() over w as place,
        coalesce(lag(s.state) over w, case when x.preview then 'preview' else 'committed' end) as before
      from export.batch_states s
      join export.batches x on x.book_id = s.book_id and x.batch = s.batch
      window w as (partition by s.book_id, s.batch order by s.sequence)) s
    join mirror.books b on b.book_id = s.book_id
    where s.place <> s.sequence or (s.before, s.state) not in (('preview', 'committed'), ('preview', 'superseded'),
      ('committed', 'acknowledged'), ('committed', 'superseded'), ('acknowledged', 'superseded'))`,
}
