/** Every journal entry by itself: its lines, their accounts, and its date. */
import { currencyScales } from "../Common/Currency.ts"
import { entryName, type ProofQuery } from "./ProofQuery.ts"

const scales = JSON.stringify(Object.fromEntries(currencyScales))

export const lines: ProofQuery = {
  name: "entry-lines",
  proves: "Every journal entry has all its lines, numbered from 1.",
  wrong: (sql) => sql`
    select b.code as book, ${entryName(sql)} as row,
      format('has %s lines, numbered %s to %s; its header says %s', coalesce(p.lines, 0), p.first, p.last, j.line_count)
        as message
    from ledger.journal_entries j
    join mirror.books b on b.book_id = j.book_id
    left join (
      select book_id, entry_id, count(*) as lines, min(line_number) as first, max(line_number) as last
      from ledger.postings group by book_id, entry_id) p on p.book_id = j.book_id and p.entry_id = j.entry_id
    where p.lines is distinct from j.line_count or p.first <> 1 or p.last <> p.lines
    union all
    select coalesce(b.code, p.book_id::text), format('line %s of journal entry %s', p.line_number, p.entry_id),
      'belongs to no journal entry'
    from ledger.postings p left join mirror.books b on b.book_id = p.book_id
    where not exists (select 1 from ledger.journal_entries j where j.book_id = p.book_id and j.entry_id = p.entry_id)`,
}

export const balanced: ProofQuery = {
  name: "entry-balance",
  proves: "Every journal entry balances in each currency.",
  wrong: (sql) => sql`
    select b.code as book, ${entryName(sql)} as row,
      format('does not balance: %s %s over', trim_scale(p.over), p.currency) as message
    from (
      select book_id, entry_id, currency, sum(amount) as over from ledger.postings
      group by book_id, entry_id, currency having sum(amount) <> 0) p
    join ledger.journal_entries j on j.book_id = p.book_id and j.entry_id = p.entry_id
    join mirror.books b on b.book_id = j.book_id`,
}

export const accounts: ProofQuery = {
  name: "line-account",
  proves:
    "Every line is on an account of its book and currency, with no more decimals than that currency has.",
  wrong: (sql) => sql`
    select b.code as book, format('%s, line %s', ${entryName(sql)}, p.line_number) as row,
      case when a.account_id is null then format('is on account %s, which the book does not have', p.account_id)
        when a.currency <> p.currency then format('is of %s, but account %s holds %s', p.currency, a.code, a.currency)
        else format('is of %s, and %s has %s decimals', p.amount, p.currency, c.scale) end as message
    from ledger.postings p
    join ledger.journal_entries j on j.book_id = p.book_id and j.entry_id = p.entry_id
    join mirror.books b on b.book_id = p.book_id
    left join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
    left join ledger.currencies c on c.code = p.currency
    where a.currency is distinct from p.currency or c.scale is null or scale(trim_scale(p.amount)) > c.scale
    union all
    select 'all', format('currency %s', c.code), format('has %s decimals here, and %s in truth', c.scale, k.value)
    from ledger.currencies c
    join json_each_text(${scales}::text::json) k on k.key = c.code
    where k.value <> c.scale::text`,
}

/** An entry for a month that was closed is dated to the first day of a later one, and says which month it is late for. */
export const dates: ProofQuery = {
  name: "entry-date",
  proves:
    "Every journal entry is dated on its day in the book's time zone, or late on the first day of a later month.",
  wrong: (sql) => sql`
    select b.code as book, ${entryName(sql)} as row,
      format('is dated %s%s; it occurred on %s in %s', j.effective_date,
        case when j.late_for is null then '' else format(', late for %s', to_char(j.late_for, 'YYYY-MM')) end,
        d.day, l.time_zone) as message
    from ledger.journal_entries j
    join mirror.books b on b.book_id = j.book_id
    join ledger.locks l on l.book_id = j.book_id
    cross join lateral (select (j.occurred_at at time zone coalesce(l.time_zone, 'UTC'))::date as day) d
    where case when j.late_for is null then j.effective_date <> d.day
      else j.late_for <> date_trunc('month', d.day::timestamp)::date or j.effective_date <= j.late_for
        or extract(day from j.effective_date) <> 1 end`,
}
