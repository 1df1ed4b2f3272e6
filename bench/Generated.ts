/**
 * A long history, made in the database by SQL: what the service would have said, booked as `tieout sync` books it, through the tables
 * and rules of the books. Each account ends on the balance that it began with, so that the service has nothing to say against it.
 */
import type { Sql } from "../src/Database/Client.ts"
import { connect } from "./Connection.ts"

/** What an account's movements are, in turns of five pairs of entries: a credit of so much, and a debit of as much. */
const table = `
  create temp table generated (
    entry_id uuid not null, account_id uuid not null, position bigint not null, place integer not null, occurred_at timestamptz not null,
    kind text not null, amount numeric not null, fee numeric not null, currency text not null, rails text not null,
    balance_after numeric not null, related_id uuid not null, other_id uuid, other_currency text, other_rails text,
    journal_id bigint not null) on commit delete rows`

/** `amount` is signed. In the third pair of five two accounts of a book convert into each other, and back. */
const movements = (sql: Sql, book: number, month: string, each: number) => sql`
  with account as materialized (
    select a.account_id, a.currency, a.payment_rails, a.entries, coalesce(a.last_balance, 0) as balance,
      (row_number() over (order by a.account_id) - 1)::integer as place
    from mirror.accounts a where a.book_id = ${book}),
  pair as materialized (
    select a.*, o.account_id as other_id, o.currency as other_currency, o.payment_rails as other_rails
    from account a left join account o on o.place = a.place # 1),
  row as (
    select p.*, k, (k - 1) / 2 as pair, k % 2 = 1 as first, 10 + ((k - 1) / 2) % 977 as size,
      (k - 1) / 2 % 5 = 2 and p.other_id is not null as converts, ((k - 1) / 2 % 5 = 1)::integer as fee,
      row_number() over () - 1 as at
    from pair p cross join generate_series(1, ${each}::integer) k),
  signed as (
    select r.*, case when r.first = (r.converts and r.place % 2 = 1) then -r.size else r.size end as amount from row r),
  blocks as materialized (
    select array_agg(nextval('ledger.journal_entry_block')) as first
    from generate_series(0, ((select count(*) from row) - 1) / 1024))
  insert into generated
  select md5(${`entry ${book} ${month} `}::text || r.place || ' ' || r.k)::uuid, r.account_id, r.entries + r.k, r.place,
    date_trunc('milliseconds', ${month}::text::timestamptz + interval '28 days' * ((r.k - 0.5) / ${each}::integer)),
    case when r.converts then 'conversion' when r.amount > 0 then 'deposit' else 'withdrawal' end, r.amount, r.fee, r.currency,
    r.payment_rails, r.balance + case when r.first then r.amount else 0 end,
    md5(${`resource ${book} ${month} `}::text || case when r.converts then r.place & -2 else r.place end || ' ' || r.k ||
      case when r.converts then ' converted' else '' end)::uuid,
    case when r.converts then r.other_id end, case when r.converts then r.other_currency end,
    case when r.converts then r.other_rails end, b.first[1 + r.at / 1024] + r.at % 1024
  from signed r cross join blocks b`

/** In the form of the service's own answers. */
const resources = (sql: Sql, book: number, run: number) => sql`
  with resource as (
    select g.*, abs(g.amount) + case when g.kind = 'deposit' then g.fee else 0 end as whole,
      case when g.kind = 'conversion' then 0 when g.fee > 0 then g.fee end as stated, 'Lakeside Trading & Sons, Ltd.' as party,
      'PC-' || left(upper(g.related_id::text), 8) as code,
      to_char(g.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as said,
      json_build_object('accountId', g.account_id, 'currency', g.currency, 'paymentRails', g.rails) as account
    from generated g where g.kind <> 'conversion' or g.amount < 0),
  money as (
    select r.*, json_build_object('amount', r.whole::text, 'currency', r.currency) as amounts,
      case when r.stated is not null then json_build_object('amount', r.stated::text, 'currency', r.currency) end as fees
    from resource r)
  insert into mirror.resources (book_id, run_id, created_at, completed_at, changed_at, read_at, resource_id, account_id,
    buy_account_id, pair_id, resource_type, status, final, form, account_rail, currency, amount, fee, fee_currency, delivered,
    buy_account_rail, buy_currency, buy_amount, rate, counterparty, code, raw)
  select ${book}, ${run}, r.occurred_at, case when r.kind = 'conversion' then r.occurred_at end, now(), now(), r.related_id, r.account_id,
    r.other_id, case when r.kind = 'conversion' then r.account_id end, upper(r.kind), 'COMPLETED', true,
    case when r.kind = 'withdrawal' then 'money' end, r.rails, r.currency, r.whole, r.stated,
    case when r.stated is not null then r.currency end, case when r.kind = 'withdrawal' then r.whole - r.fee end, r.other_rails,
    r.other_currency, case when r.kind = 'conversion' then r.whole end, case when r.kind = 'conversion' then 1 end,
    case when r.kind <> 'conversion' then r.party end, case when r.kind <> 'conversion' then r.code end,
    json_strip_nulls(case r.kind
      when 'deposit' then json_build_object('depositId', r.related_id, 'account', r.account, 'amount', r.amounts, 'fee', r.fees,
        'status', 'COMPLETED', 'remitterName', r.party, 'code', r.code, 'createdAt', r.said)
      when 'withdrawal' then json_build_object('withdrawalId', r.related_id, 'sourceAccount', r.account, 'sourceAmount', r.amounts,
        'destinationAmount', json_build_object('amount', (r.whole - r.fee)::text, 'currency', r.currency), 'fee', r.fees,
        'destination', json_build_object('bank', json_build_object('bankName', r.party)), 'status', 'COMPLETED', 'code', r.code,
        'createdAt', r.said)
      else json_build_object('conversionId', r.related_id, 'pairId', r.account_id, 'status', 'COMPLETED', 'sellAccount', r.account,
        'sellAmount', r.amounts, 'buyAccount', json_build_object('accountId', r.other_id, 'currency', r.other_currency,
          'paymentRails', r.other_rails), 'buyAmount', json_build_object('amount', r.whole::text, 'currency', r.other_currency),
        'rate', '1', 'fee', r.fees, 'createdAt', r.said, 'completedAt', r.said) end)
  from money r`

const entries = (sql: Sql, book: number, run: number) => sql`
  insert into mirror.statement_entries (book_id, run_id, position, occurred_at, account_id, entry_id, type, amount, currency,
    balance_after, related_type, related_id)
  select ${book}, ${run}, g.position, g.occurred_at, g.account_id, g.entry_id, case when g.amount > 0 then 'CREDIT' else 'DEBIT' end,
    abs(g.amount), g.currency, g.balance_after, upper(g.kind), g.related_id
  from generated g`

/** The chart of a book as far as its movements need it. */
const accounts = (sql: Sql, book: number) => sql`
  insert into ledger.accounts (book_id, role, currency, partner_account_id, code, name)
  select distinct ${book}::integer, r.role, a.currency, case when r.role = 'cash' then a.account_id end, r.code,
    r.name || ':' || a.currency || case when r.role = 'cash' then ':' || a.payment_rails || ':' || left(a.account_id::text, 8) else '' end
  from mirror.accounts a
  cross join (values ('cash', '1010', 'Assets:Partner'), ('deposits_clearing', '1020', 'Assets:Clearing:Deposits'),
    ('withdrawals_clearing', '1030', 'Assets:Clearing:Withdrawals'), ('conversions_in_transit', '1060', 'Assets:Conversions-in-Transit'),
    ('fees', '6850', 'Expenses:Fees'), ('trading', '3020', 'Equity:Trading')) as r (role, code, name)
  where a.book_id = ${book}
  on conflict do nothing`

const journal = (sql: Sql, book: number, run: number) => sql`
  with header as (
    insert into ledger.journal_entries (book_id, entry_id, occurred_at, position, effective_date, run_id, line_count, source_type,
      source_id, kind, partner_account_id, resource_type, resource_id, description, counterparty)
    select ${book}, g.journal_id, g.occurred_at, g.position, ledger.effective_date(g.occurred_at, l.time_zone, l.closed_through), ${run},
      2 + g.fee::integer * (g.kind <> 'conversion')::integer, 'statement_entry', g.entry_id, g.kind, g.account_id, upper(g.kind),
      g.related_id, initcap(g.kind), case when g.kind <> 'conversion' then 'Lakeside Trading & Sons, Ltd.' end
    from generated g join ledger.locks l on l.book_id = ${book})
  insert into ledger.postings (book_id, entry_id, line_number, account_id, currency, amount)
  select ${book}, g.journal_id, l.line, a.account_id, g.currency, l.amount
  from generated g
  cross join lateral (values (1, 'cash', g.amount),
    (2, case g.kind when 'conversion' then 'conversions_in_transit' else g.kind || 's_clearing' end,
      -g.amount - case g.kind when 'conversion' then 0 else g.fee end),
    (3, 'fees', case g.kind when 'conversion' then 0 else g.fee end)) as l (line, role, amount)
  join ledger.accounts a on a.book_id = ${book} and a.role = l.role and a.currency = g.currency and a.rule_code = ''
    and a.partner_account_id is not distinct from case l.role when 'cash' then g.account_id end
  where l.amount <> 0`

/** Of both legs of a conversion: moved to trading, as the numbering step does once it is whole. */
const conversions = (sql: Sql, book: number, run: number) => sql`
  with whole as materialized (
    select g.*, b.first[1 + (row_number() over () - 1) / 1024] + (row_number() over () - 1) % 1024 as whole_id
    from generated g
    cross join (
      select array_agg(nextval('ledger.journal_entry_block')) as first
      from generate_series(0, (select count(*) from generated) / 1024)) b
    where g.kind = 'conversion' and g.amount < 0),
  header as (
    insert into ledger.journal_entries (book_id, entry_id, occurred_at, effective_date, run_id, line_count, source_type,
      source_id, kind, resource_type, resource_id, description)
    select ${book}, w.whole_id, w.occurred_at, ledger.effective_date(w.occurred_at, l.time_zone, l.closed_through), ${run}, 4,
      'resource_version', w.related_id, 'conversion_whole', 'CONVERSION', w.related_id, 'Conversion, whole'
    from whole w join ledger.locks l on l.book_id = ${book})
  insert into ledger.postings (book_id, entry_id, line_number, account_id, currency, amount)
  select ${book}, w.whole_id, l.line, a.account_id, l.currency, l.amount
  from whole w
  cross join lateral (values (1, 'trading', w.currency, -w.amount), (2, 'conversions_in_transit', w.currency, w.amount),
    (3, 'conversions_in_transit', w.other_currency, -w.amount), (4, 'trading', w.other_currency, w.amount))
    as l (line, role, currency, amount)
  join ledger.accounts a on a.book_id = ${book} and a.role = l.role and a.currency = l.currency and a.rule_code = ''`

const heads = (sql: Sql, book: number) => sql`
  update mirror.accounts a set entries = g.position, last_entry_id = g.entry_id, last_balance = g.balance_after,
    last_occurred_at = g.occurred_at
  from (select distinct on (account_id) * from generated order by account_id, position desc) g
  where a.book_id = ${book} and a.account_id = g.account_id`

const boundaries = (sql: Sql, book: number) => sql`
  insert into sync.page_boundaries (book_id, account_id, position, cursor, occurred_at)
  select ${book}, g.account_id, g.position, 'generated:' || g.position, g.occurred_at from generated g where g.position % 100 = 0`

/** Books of clients whose accounts were read once. */
const booksOf = async (
  sql: Sql,
): Promise<ReadonlyArray<{ readonly book: number; readonly accounts: number }>> => {
  const rows = await sql<Array<{ book_id: number; accounts: bigint }>>`
    select b.book_id, count(*) as accounts from mirror.books b join mirror.accounts a on a.book_id = b.book_id
    where b.client_id is not null group by b.book_id order by b.book_id`
  return rows.map(({ accounts: count, book_id: book }) => ({ book, accounts: Number(count) }))
}

/** Sessions that make it at once: what the rules of the books check costs more than one processor's time. */
const lanes = 2

/** Makes about so many statement entries in each of the months, shared out over the books. Gives how many. */
export const generate = async (
  url: string,
  perMonth: number,
  months: ReadonlyArray<string>,
): Promise<number> => {
  const client = connect(url, 1)
  const sessions = Array.from({ length: lanes }, () => connect(url, 1))
  try {
    await client`select set_config('tieout.program', 'on', false)`
    const books = await booksOf(client)
    const accountsInAll = books.reduce((sum, { accounts: count }) => sum + count, 0)
    const each = Math.max(2, 2 * Math.round(perMonth / accountsInAll / 2))
    const [{ run_id: run }] = await client<[{ run_id: number }]>`
      insert into sync.runs (connection, command, state, ended_at, exit_code, whole)
      values ('default', 'sync', 'done', now(), 0, true) returning run_id`
    const make = async (own: ReturnType<typeof connect>, some: ReadonlyArray<number>) => {
      await own`select set_config('tieout.program', 'on', false), set_config('synchronous_commit', 'off', false)`
      await own.unsafe(table)
      for (const month of months)
        for (const book of some)
          await own.begin(async (sql) => {
            await movements(sql, book, month, each)
            await resources(sql, book, run)
            await entries(sql, book, run)
            await accounts(sql, book)
            await journal(sql, book, run)
            await conversions(sql, book, run)
            await heads(sql, book)
            await boundaries(sql, book)
            await sql`delete from ledger.touched_conversions where book_id = ${book}`
            await sql`select ledger.assign_numbers(array[${book}::integer])`
            await sql`update reconcile.progress set through_run = ${run} where book_id = ${book}`
          })
    }
    const laneOf = (lane: number) => books.filter((_, at) => at % lanes === lane).map(({ book }) => book)
    await Promise.all(sessions.map((own, lane) => make(own, laneOf(lane))))
    await client.unsafe("vacuum analyze")
    return each * accountsInAll * months.length
  } finally {
    await Promise.all([client, ...sessions].map((one) => one.end()))
  }
}
