/** The invariants of the books, which hold after every step whatever has happened: plain SQL over the tables. */
import { Effect } from "effect"
import type { Book } from "../../src/Book.ts"
import { Database } from "../../src/Database.ts"
import { idsOf } from "./BookIds.ts"

interface Problem {
  readonly problem: string
}

/** Every entry that is not held back has its cash booked once and to the cent, and no cash is booked without an entry. */
const cashIsExplained = `
  with booked as (
    select e.book_id, e.source_id, sum(p.amount) as amount, count(distinct e.entry_id) as times
    from ledger.journal_entries e
    join ledger.postings p on p.book_id = e.book_id and p.entry_id = e.entry_id
    join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
    where e.book_id = any ($1::integer[]) and e.source_type = 'statement_entry' and a.role = 'cash'
    group by e.book_id, e.source_id),
  shown as (
    select s.book_id, s.entry_id, case s.type when 'CREDIT' then s.amount else -s.amount end as amount, s.held
    from mirror.statement_entries s where s.book_id = any ($1::integer[]))
  select format('entry %s of book %s shows %s%s and is booked with %s in %s journal entries',
    coalesce(s.entry_id, b.source_id), coalesce(s.book_id, b.book_id), s.amount,
    case when s.held then ' (held)' else '' end, coalesce(b.amount, 0), coalesce(b.times, 0)) as problem
  from shown s full join booked b on b.book_id = s.book_id and b.source_id = s.entry_id
  where s.entry_id is null or (s.held and b.source_id is not null)
    or (not s.held and s.amount <> 0 and (b.amount is distinct from s.amount or b.times <> 1))
    or (not s.held and s.amount = 0 and b.source_id is not null)`

/** The books have the running balance of the last entry that is not held back, and all held entries come after it. */
const chains = `
  with cash as (
    select p.book_id, a.partner_account_id as account_id, sum(p.amount) as amount
    from ledger.postings p
    join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
    where p.book_id = any ($1::integer[]) and a.role = 'cash' group by 1, 2),
  last as (
    select distinct on (s.book_id, s.account_id) s.book_id, s.account_id, s.position, s.balance_after
    from mirror.statement_entries s where s.book_id = any ($1::integer[]) and not s.held
    order by s.book_id, s.account_id, s.position desc)
  select format('account %s of book %s: the books say %s, its last entry %s', coalesce(c.account_id, l.account_id),
    coalesce(c.book_id, l.book_id), c.amount, l.balance_after) as problem
  from cash c full join last l on l.book_id = c.book_id and l.account_id = c.account_id
  where c.amount is distinct from l.balance_after and not (c.amount is null and l.balance_after = 0)
  union all
  select format('account %s: entry %s is held before one that is not', s.account_id, s.entry_id)
  from mirror.statement_entries s
  join last l on l.book_id = s.book_id and l.account_id = s.account_id
  where s.held and s.position < l.position`

const dates = `
  select format('journal entry %s (%s) of %s is dated %s, late for %s, in zone %s', e.entry_id, e.kind,
    e.occurred_at, e.effective_date, e.late_for, l.time_zone) as problem
  from ledger.journal_entries e
  join ledger.locks l on l.book_id = e.book_id
  where e.book_id = any ($1::integer[])
    and case when e.late_for is null then e.effective_date <> (e.occurred_at at time zone l.time_zone)::date
      else e.late_for <> date_trunc('month', e.occurred_at at time zone l.time_zone)::date
        or extract(day from e.effective_date) <> 1 or e.late_for >= e.effective_date end`

const doubleEntry = `
  select format('journal entry %s of book %s is off by %s %s', p.entry_id, p.book_id, sum(p.amount), p.currency) as problem
  from ledger.postings p where p.book_id = any ($1::integer[])
  group by p.book_id, p.entry_id, p.currency having sum(p.amount) <> 0
  union all
  select format('ledger account %s in %s: balances say %s, postings %s', coalesce(b.account_id, s.account_id),
    coalesce(b.period, s.period), b.amount, s.amount)
  from (select book_id, account_id, period, debit - credit as amount from ledger.balances
        where book_id = any ($1::integer[])) b
  full join (
    select p.book_id, p.account_id, e.period, sum(p.amount) as amount
    from ledger.postings p join ledger.journal_entries e on e.book_id = p.book_id and e.entry_id = p.entry_id
    where p.book_id = any ($1::integer[]) group by 1, 2, 3) s
    on s.book_id = b.book_id and s.account_id = b.account_id and s.period = b.period
  where b.amount is distinct from s.amount and coalesce(b.amount, 0) <> coalesce(s.amount, 0)`

const numbers = `
  select format('book %s, %s: %s numbers from %s to %s', book_id, period, count(*), min(number), max(number)) as problem
  from ledger.journal_numbers where book_id = any ($1::integer[])
  group by book_id, period having min(number) <> 1 or max(number) <> count(*)
  union all
  select format('journal entry %s is neither numbered nor waiting', e.entry_id)
  from ledger.journal_entries e
  where e.book_id = any ($1::integer[])
    and not exists (select 1 from ledger.journal_numbers n where n.book_id = e.book_id and n.entry_id = e.entry_id)
    and not exists (select 1 from ledger.unnumbered u where u.book_id = e.book_id and u.entry_id = e.entry_id)`

const always = [cashIsExplained, chains, dates, doubleEntry, numbers]
  .map((query) => `(select problem from (${query}) as found limit 3)`)
  .join(" union all ")

/** All lines of the closed months as one text: a closed month may not change by a byte. */
const closedMonths = `
  select p.book_id as book, p.period::text as period, (
    select md5(coalesce(string_agg(concat_ws('|', n.number, l.line_number, l.account_id, l.currency, l.amount,
      e.effective_date, e.kind, e.description, e.source_id, e.late_for), E'\\n' order by n.number, l.line_number), ''))
    from ledger.journal_numbers n
    join ledger.journal_entries e on e.book_id = n.book_id and e.entry_id = n.entry_id
    join ledger.postings l on l.book_id = n.book_id and l.entry_id = n.entry_id
    where n.book_id = p.book_id and n.period = p.period) as digest
  from ledger.periods p where p.book_id = any ($1::integer[]) and p.status = 'closed'`

const query = <Row extends object>(name: string, statement: string, books: ReadonlyArray<Book>) =>
  Effect.flatMap(Database, (database) =>
    database.query(name, (sql) => sql.unsafe<Array<Row>>(statement, [idsOf(books)], { prepare: true })),
  ).pipe(Effect.orDie)

/** Answers the invariants that are broken. */
export const broken = (books: ReadonlyArray<Book>): Effect.Effect<ReadonlyArray<string>, never, Database> =>
  books.length === 0
    ? Effect.succeed([])
    : Effect.map(query<Problem>("Campaign.invariants", always, books), (found) =>
        found.map(({ problem }) => problem),
      )

/** A digest of every closed month, by book and month. */
export const digests = (books: ReadonlyArray<Book>) =>
  Effect.map(
    query<{ readonly book: number; readonly period: string; readonly digest: string }>(
      "Campaign.digests",
      closedMonths,
      books,
    ),
    (found) => new Map(found.map(({ book, digest, period }) => [`${book} ${period}`, digest])),
  )

/** Entries that are held back: none are left once everything is mended and read. `unread`: accounts that cannot be. */
export const held = (books: ReadonlyArray<Book>, unread: ReadonlySet<string>) =>
  Effect.map(
    query<Problem & { readonly account: string }>(
      "Campaign.held",
      `select account_id::text as account, format('entry %s of account %s is held at the end', entry_id, account_id) as problem
       from mirror.statement_entries where book_id = any ($1::integer[]) and held`,
      books,
    ),
    (found) => found.flatMap(({ account, problem }) => (unread.has(account) ? [] : [problem])).slice(0, 3),
  )
