/** The current balances, the journal numbers, and the balances in transit. */
import { archivedAccount, entryName, type ProofQuery } from "./ProofQuery.ts"

export const balances: ProofQuery = {
  name: "balances",
  proves: "Every account's balance of every month is the sum of its postings, the archived ones included.",
  wrong: (sql) => sql`
    select b.code as book, format('balance of %s in %s', coalesce(a.code || ' (' || a.currency || ')', 'account ' || d.account_id),
        to_char(d.period, 'YYYY-MM')) as row,
      format('says debit %s, credit %s; its postings add up to %s and %s', trim_scale(d.debit), trim_scale(d.credit),
        trim_scale(d.posted_debit), trim_scale(d.posted_credit)) as message
    from (
      select book_id, account_id, period, sum(debit) as debit, sum(credit) as credit, sum(posted_debit) as posted_debit,
        sum(posted_credit) as posted_credit
      from (
        select book_id, account_id, period, debit, credit, 0::numeric as posted_debit, 0::numeric as posted_credit
        from ledger.balances
        union all
        select p.book_id, p.account_id, j.period, 0, 0, sum(greatest(p.amount, 0)), sum(greatest(-p.amount, 0))
        from ledger.postings p
        join ledger.journal_entries j on j.book_id = p.book_id and j.entry_id = p.entry_id
        group by p.book_id, p.account_id, j.period
        union all
        select t.book_id, ${archivedAccount(sql)}, t.period, 0, 0, t.debit, t.credit
        from ledger.archived_turnover t where t.basis = 'native') both_sides
      group by book_id, account_id, period) d
    join mirror.books b on b.book_id = d.book_id
    left join ledger.accounts a on a.book_id = d.book_id and a.account_id = d.account_id
    where d.debit <> d.posted_debit or d.credit <> d.posted_credit`,
}

export const numbers: ProofQuery = {
  name: "journal-numbers",
  proves:
    "Journal numbers run from 1 without a gap in every month, but for those that are archived, in the order of their steps, each for an entry of that month; what has none waits for it.",
  wrong: (sql) => sql`
    select b.code as book, format('journal numbers of %s', to_char(p.period, 'YYYY-MM')) as row,
      format('%s given, from %s to %s, and %s archived; the month counts %s', coalesce(n.given, 0), n.first, n.last,
        coalesce(a.entries, 0), p.last_number) as message
    from ledger.periods p
    join mirror.books b on b.book_id = p.book_id
    left join (
      select book_id, period, count(*) as given, min(number) as first, max(number) as last
      from ledger.journal_numbers group by book_id, period) n on n.book_id = p.book_id and n.period = p.period
    left join (
      select book_id, period, sum(entries) as entries from ledger.archived_months
      group by book_id, period) a on a.book_id = p.book_id and a.period = p.period
    -- Each stands once: as many as the month counts, none beyond them, are all of them; of an archived month some.
    where coalesce(n.given, 0) + coalesce(a.entries, 0) <> p.last_number or n.last > p.last_number or n.first < 1
    union all
    select b.code, ${entryName(sql)}, format('is of %s', to_char(j.period, 'YYYY-MM'))
    from ledger.journal_numbers x
    join ledger.journal_entries j on j.book_id = x.book_id and j.entry_id = x.entry_id
    join mirror.books b on b.book_id = x.book_id
    where x.period <> j.period
    union all
    select coalesce(b.code, x.book_id::text), format('journal number %s of %s', x.number, to_char(x.period, 'YYYY-MM')),
      'belongs to no journal entry, or to a month that the book does not have'
    from ledger.journal_numbers x left join mirror.books b on b.book_id = x.book_id
    where not exists (select 1 from ledger.journal_entries j where j.book_id = x.book_id and j.entry_id = x.entry_id)
      or not exists (select 1 from ledger.periods p where p.book_id = x.book_id and p.period = x.period)
    union all
    select b.code, ${entryName(sql)},
      case when q.waiting then 'has a number and waits for one as well' else 'has no number and does not wait for one' end
    from (
      select j.book_id, j.entry_id, u.entry_id is not null as waiting, x.entry_id is not null as numbered
      from ledger.journal_entries j
      left join ledger.unnumbered u on u.book_id = j.book_id and u.entry_id = j.entry_id
      left join ledger.journal_numbers x on x.book_id = j.book_id and x.entry_id = j.entry_id) q
    join ledger.journal_entries j on j.book_id = q.book_id and j.entry_id = q.entry_id
    join mirror.books b on b.book_id = q.book_id
    where q.waiting = q.numbered
    union all
    select b.code, format('journal number %s of %s', s.number, to_char(s.period, 'YYYY-MM')),
      format('was given in numbering step %s, the one before it in step %s', s.numbering, s.before)
    from (
      select x.book_id, x.period, x.number, x.numbering,
        lag(x.numbering) over (partition by x.book_id, x.period order by x.number) as before
      from ledger.journal_numbers x) s
    join mirror.books b on b.book_id = s.book_id
    where s.numbering < s.before`,
}

export const transit: ProofQuery = {
  name: "transit",
  proves: "What stands in transit of every conversion is the sum of its postings.",
  wrong: (sql) => sql`
    select b.code as book, format('conversion %s in transit, %s', d.conversion_id, d.currency) as row,
      format('says %s; its postings add up to %s', trim_scale(d.amount), trim_scale(d.posted)) as message
    from (
      select book_id, conversion_id, currency, sum(amount) as amount, sum(posted) as posted
      from (
        select book_id, conversion_id, currency, amount, 0::numeric as posted from ledger.transit
        union all
        select p.book_id, coalesce(j.resource_id, j.source_id), p.currency, 0, p.amount
        from ledger.accounts a
        join ledger.postings p on p.book_id = a.book_id and p.account_id = a.account_id
        join ledger.journal_entries j on j.book_id = p.book_id and j.entry_id = p.entry_id
        where a.role = 'conversions_in_transit') both_sides
      group by book_id, conversion_id, currency) d
    join mirror.books b on b.book_id = d.book_id
    where d.amount <> d.posted`,
}
