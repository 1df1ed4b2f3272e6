/** Compares what was archived with what stayed: the statement, the closes and the balances prove the rows that left. */
import type { ProofQuery } from "./ProofQuery.ts"

export const archives: ProofQuery = {
  name: "archives",
  proves:
    "Every archived year is closed; what left of it balances, moved cash as the statement says, is known by its identifiers, and is not in the books any more.",
  wrong: (sql) => sql`
    select b.code as book, format('archive of %s', a.year) as row,
      format('reaches through %s; the book is closed through %s', to_char(a.through, 'YYYY-MM'),
        coalesce(to_char(l.closed_through, 'YYYY-MM'), 'no month')) as message
    from ledger.archives a
    join mirror.books b on b.book_id = a.book_id
    join ledger.locks l on l.book_id = a.book_id
    where l.closed_through is null or l.closed_through < a.through
    union all
    select b.code, format('archive of %s', a.year),
      format('says that %s journal entries left; by month they are %s', a.rows ->> 'ledger.journal_entries', coalesce(m.entries, 0))
    from ledger.archives a
    join mirror.books b on b.book_id = a.book_id
    left join (
      select book_id, year, sum(entries) as entries from ledger.archived_months
      group by book_id, year) m on m.book_id = a.book_id and m.year = a.year
    where (a.rows ->> 'ledger.journal_entries')::bigint is distinct from m.entries
    union all
    select b.code, format('archive of %s', a.year), format('reaches through %s, which is not its last month',
      to_char(a.through, 'YYYY-MM'))
    from ledger.archives a
    join mirror.books b on b.book_id = a.book_id
    where a.through <> make_date(a.year, 12, 1)
    union all
    select b.code, format('archive of %s', a.year),
      format('says that %s deposits, withdrawals and conversions left; %s of them are known', a.rows ->> 'mirror.resources',
        coalesce(m.resources, 0))
    from ledger.archives a
    join mirror.books b on b.book_id = a.book_id
    left join (
      select book_id, year, count(*) as resources from mirror.archived_resources
      group by book_id, year) m on m.book_id = a.book_id and m.year = a.year
    where (a.rows ->> 'mirror.resources')::bigint <> coalesce(m.resources, 0)
    union all
    select b.code, format('archived turnover of %s in %s', to_char(t.period, 'YYYY-MM'), t.currency),
      format('leaves %s', t.over)
    from (
      select t.book_id, t.period, case t.basis when 'native' then c.currency else 'the base currency' end as currency,
        trim_scale(sum(t.debit - t.credit)) as over
      from ledger.archived_turnover t
      left join ledger.accounts c on c.book_id = t.book_id and c.account_id::text = t.account
      group by t.book_id, t.period, 3 having sum(t.debit - t.credit) <> 0) t
    join mirror.books b on b.book_id = t.book_id
    union all
    select b.code, format('cash of account %s', d.account_id),
      format('moved %s by what is archived; the statement says %s', trim_scale(d.left_behind), trim_scale(d.stated))
    from (
      select book_id, account_id, sum(left_behind) as left_behind, sum(stated) as stated
      from (
        select t.book_id, c.partner_account_id as account_id, t.debit - t.credit as left_behind, 0::numeric as stated
        from ledger.archived_turnover t
        join ledger.accounts c on c.book_id = t.book_id and c.account_id::text = t.account and c.role = 'cash'
        where t.basis = 'native'
        union all
        select e.book_id, e.account_id, 0, case e.type when 'CREDIT' then e.amount else -e.amount end
        from ledger.archived_sources x
        join mirror.statement_entries e on e.book_id = x.book_id and e.entry_id = x.source_id) sides
      group by book_id, account_id having sum(left_behind) <> sum(stated)) d
    join mirror.books b on b.book_id = d.book_id
    union all
    -- A movement leaves as a whole. Where an entry names another one since it was read again, what it named then is a version of it.
    select b.code, format('statement entry %s', x.source_id), format('is archived with %s; the %s %s that it names is not',
      x.year, mirror.lower_ascii(e.related_type), e.related_id)
    from ledger.archived_sources x
    join mirror.statement_entries e on e.book_id = x.book_id and e.entry_id = x.source_id
    join mirror.books b on b.book_id = x.book_id
    where e.related_type in ('DEPOSIT', 'WITHDRAWAL', 'CONVERSION') and e.related_id is not null
      and not exists (
        select 1 from mirror.archived_resources r where r.book_id = x.book_id and r.resource_id = e.related_id
          and r.resource_type = e.related_type and r.year = x.year)
      and not exists (
        select 1 from mirror.statement_entry_versions v where v.book_id = e.book_id and v.entry_id = e.entry_id)
    union all
    select b.code, format('%s %s', mirror.lower_ascii(r.resource_type), r.resource_id), 'is archived, and no statement entry that is names it'
    from mirror.archived_resources r
    join mirror.books b on b.book_id = r.book_id
    where not exists (
      select 1 from mirror.statement_entries e
      join ledger.archived_sources x on x.book_id = e.book_id and x.source_id = e.entry_id
      where e.book_id = r.book_id and e.related_id = r.resource_id)
    union all
    select b.code, format('source %s', x.source_id), 'is archived, and is neither a statement entry nor an archived movement'
    from ledger.archived_sources x
    join mirror.books b on b.book_id = x.book_id
    where not exists (
        select 1 from mirror.statement_entries e where e.book_id = x.book_id and e.entry_id = x.source_id)
      and not exists (
        select 1 from mirror.archived_resources r where r.book_id = x.book_id and r.resource_id = x.source_id)
    union all
    select b.code, format('archived %s of %s', k.what, k.year), 'belong to no archive'
    from (
      select book_id, year, 'months' as what from ledger.archived_months
      union select book_id, year, 'turnovers' from ledger.archived_turnover
      union select book_id, year, 'sources' from ledger.archived_sources
      union select book_id, year, 'movements' from mirror.archived_resources
      union select book_id, year, 'totals' from export.archived_totals) k
    join mirror.books b on b.book_id = k.book_id
    where not exists (select 1 from ledger.archives a where a.book_id = k.book_id and a.year = k.year)
    union all
    select b.code, format('source %s', x.source_id), 'is archived, and has journal entries here'
    from ledger.archived_sources x
    join mirror.books b on b.book_id = x.book_id
    where exists (select 1 from ledger.journal_entries j where j.book_id = x.book_id and j.source_id = x.source_id)
    union all
    select b.code, format('%s %s', mirror.lower_ascii(x.resource_type), x.resource_id), 'is archived, and is here as well'
    from mirror.archived_resources x
    join mirror.books b on b.book_id = x.book_id
    where exists (select 1 from mirror.resources r where r.book_id = x.book_id and r.resource_id = x.resource_id
      and r.resource_type = x.resource_type)`,
}
