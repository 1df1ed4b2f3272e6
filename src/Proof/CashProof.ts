/** Cash against what the service said: each statement entry, each chain of running balances. */
import { archivedAccount, entryName, type ProofQuery } from "./ProofQuery.ts"

export const booked: ProofQuery = {
  name: "cash-lines",
  proves:
    "Every booked statement entry has one journal entry with one cash line of its amount and currency, here or in an archive, and no other entry moves cash.",
  wrong: (sql) => sql`
    select b.code as book, format('statement entry %s', e.entry_id) as row,
      case when c.lines is null then 'is not booked'
        when c.currency <> e.currency then format('is of %s; the books say %s', e.currency, c.currency)
        else format('moves %s; the books say %s in %s lines',
          case e.type when 'CREDIT' then e.amount else -e.amount end, trim_scale(c.amount), c.lines) end as message
    from mirror.statement_entries e
    join mirror.books b on b.book_id = e.book_id
    left join (
      select j.book_id, j.source_id, count(*) as lines, sum(p.amount) as amount, min(p.currency) as currency,
        min(a.partner_account_id::text) as account
      from ledger.journal_entries j
      join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
      join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id and a.role = 'cash'
      where j.source_type = 'statement_entry' and j.sequence = 0
      group by j.book_id, j.source_id) c on c.book_id = e.book_id and c.source_id = e.entry_id
    where not e.held and e.amount <> 0
      and not exists (select 1 from ledger.archived_sources x where x.book_id = e.book_id and x.source_id = e.entry_id)
      and (c.lines is distinct from 1 or c.account <> e.account_id::text or c.currency <> e.currency
      or c.amount <> case e.type when 'CREDIT' then e.amount else -e.amount end)
    union all
    select b.code, ${entryName(sql)}, 'moves cash, and no statement entry stands behind it'
    from ledger.journal_entries j
    join mirror.books b on b.book_id = j.book_id
    join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
    join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id and a.role = 'cash'
    where j.source_type <> 'opening' and not (j.source_type = 'statement_entry' and j.sequence = 0 and exists (
      select 1 from mirror.statement_entries e
      where e.book_id = j.book_id and e.entry_id = j.source_id and not e.held))`,
}

export const chain: ProofQuery = {
  name: "statement-chain",
  proves:
    "Every statement's running balance continues from entry to entry, without a gap, to the balance that cash has.",
  wrong: (sql) => sql`
    select b.code as book, format('statement entry %s of account %s', c.entry_id, c.account_id) as row,
      case when c.position <> c.position_before + 1
        then format('is at position %s; the one before it is at %s', c.position, c.position_before)
        else format('leaves %s; the one before it left %s, and it moves %s', c.balance_after, c.carried, c.moved) end
        as message
    from (
      select e.book_id, e.account_id, e.entry_id, e.position, e.balance_after,
        case e.type when 'CREDIT' then e.amount else -e.amount end as moved,
        lag(e.position) over chain as position_before, lag(e.balance_after) over chain as carried
      from mirror.statement_entries e where not e.held
      window chain as (partition by e.book_id, e.account_id order by e.position)) c
    join mirror.books b on b.book_id = c.book_id
    where c.position <> c.position_before + 1 or c.carried + c.moved <> c.balance_after
    union all
    select b.code, format('account %s', s.account_id),
      format('its last booked entry leaves %s; its cash in the books is %s', s.balance_after, trim_scale(coalesce(l.amount, 0)))
    from (
      select distinct on (book_id, account_id) book_id, account_id, balance_after from mirror.statement_entries
      where not held order by book_id, account_id, position desc) s
    join mirror.books b on b.book_id = s.book_id
    left join (
      select p.book_id, a.partner_account_id, sum(p.amount) as amount
      from (
        select p.book_id, p.account_id, p.amount from ledger.postings p
        union all
        select t.book_id, ${archivedAccount(sql)}, t.debit - t.credit from ledger.archived_turnover t where t.basis = 'native') p
      join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id and a.role = 'cash'
      group by p.book_id, a.partner_account_id) l on l.book_id = s.book_id and l.partner_account_id = s.account_id
    where coalesce(l.amount, 0) <> s.balance_after`,
}
