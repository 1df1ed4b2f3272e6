/** Compares the mirror with the service's raw answers that are stored beside it. */
import type { Sql } from "../Database/Client.ts"
import { type Fragment, otherTime, type ProofQuery } from "./ProofQuery.ts"

/** A decimal from JSON text; null where it is not one. */
const figure = (sql: Sql, text: Fragment): Fragment =>
  sql`case when ${text} ~ '^-?[0-9]+([.][0-9]+)?$' then (${text})::numeric end`

/** Versioned rows that are not the newest but marked current, or the reverse. */
const currentOf = (sql: Sql, from: Fragment, name: Fragment): Fragment => sql`
  select b.code as book, x.row, format('has versions %s to %s, %s of them; current is %s', x.first, x.last, x.versions,
    coalesce(x.current, 'none')) as message
  from (
    select r.book_id, ${name} as row, min(r.version) as first, max(r.version) as last, count(*) as versions,
      string_agg(r.version::text, ', ') filter (where r.current) as current
    from ${from} r group by r.book_id, 2) x
  join mirror.books b on b.book_id = x.book_id
  where x.first <> 1 or x.last <> x.versions or x.current is distinct from x.last::text`

/** Every transaction that a version names, as `txId` is kept, by connection. */
const namedTransactions = (sql: Sql): Fragment => sql`
  select b.connection, b.code, r.receivable_id, r.version, n.purpose, lower(n.said ->> 'txId') as tx_id,
    n.said ->> 'txTimestamp' as said_at
  from mirror.receivables r
  join mirror.books b on b.book_id = r.book_id
  cross join lateral (
    select 'disbursement' as purpose, r.raw -> 'disbursedTransaction' as said
    where json_typeof(r.raw -> 'disbursedTransaction') = 'object'
    union all
    select 'repayment', e.said
    from json_array_elements(
      case when json_typeof(r.raw -> 'repaymentTransactions') = 'array' then r.raw -> 'repaymentTransactions' end) e (said)) n`

/** What links a receivable to cash. It may stand in another book than the versions: the borrower's. */
const transactionsOf = (sql: Sql): Fragment => sql`
  select b.code as book, format('transaction %s of receivable %s', t.tx_id, t.receivable_id) as row,
    format('is a %s of %s by version %s, which does not say so', t.purpose, t.tx_timestamp, t.version) as message
  from mirror.receivable_transactions t
  join mirror.books b on b.book_id = t.book_id
  where not exists (
    select 1 from (${namedTransactions(sql)}) n
    where n.connection = b.connection and n.receivable_id = t.receivable_id and n.version = t.version
      and n.purpose = t.purpose and n.tx_id = t.tx_id and not ${otherTime(sql, sql`n.said_at`, sql`t.tx_timestamp`)})
  union all
  select distinct n.code, format('transaction %s of receivable %s', n.tx_id, n.receivable_id),
    format('is named by version %s and kept nowhere: its cash cannot be found', min(n.version) over (
      partition by n.connection, n.receivable_id, n.tx_id))
  from (${namedTransactions(sql)}) n
  where not exists (
    select 1 from mirror.receivable_transactions t
    join mirror.books o on o.book_id = t.book_id
    where o.connection = n.connection and t.receivable_id = n.receivable_id and t.tx_id = n.tx_id)`

export const receivables: ProofQuery = {
  name: "receivables",
  proves:
    "Every version of a receivable, and every transaction that it names, says what the service said of it, and the newest is the one that counts.",
  wrong: (sql) => sql`
    select b.code as book, format('receivable %s, version %s', r.receivable_id, r.version) as row,
      format('is %s, %s %s of %s %s, %s due, of %s; the service said otherwise', r.status, r.current_principal, r.currency,
        r.initial_principal, r.payment_rails, r.repayment_amount, r.issue_date) as message
    from mirror.receivables r
    join mirror.books b on b.book_id = r.book_id
    where (r.receivable_id::text, r.client_id::text, r.status, r.currency, r.payment_rails, r.initial_principal,
        r.current_principal, r.repayment_amount) is distinct from
      (mirror.lower_ascii(r.raw ->> 'receivableId'), mirror.lower_ascii(r.raw ->> 'clientId'), r.raw ->> 'status', r.raw ->> 'currency',
        r.raw ->> 'paymentRails', ${figure(sql, sql`r.raw ->> 'initialPrincipal'`)},
        ${figure(sql, sql`r.raw ->> 'currentPrincipal'`)}, ${figure(sql, sql`r.raw ->> 'repaymentAmount'`)})
      or ${otherTime(sql, sql`(r.raw ->> 'issueDate')`, sql`r.issue_date`)}
    union all
    ${transactionsOf(sql)}
    union all
    ${currentOf(sql, sql`mirror.receivables`, sql`format('receivable %s', r.receivable_id)`)}
    union all
    ${currentOf(sql, sql`mirror.reference_items`, sql`format('%s %s', replace(r.kind, '_', ' '), r.item_id)`)}`,
}

/** Its currency is that of its first answer, which the database keeps from changing; another one later is the finding `cash-balance`. */
export const accounts: ProofQuery = {
  name: "accounts",
  proves:
    "Every account of the service has the balance that it said, and the entries of its statement that are booked.",
  wrong: (sql) => sql`
    select b.code as book, format('account %s', a.account_id) as row,
      format('says %s, %s, %s; the service said %s, %s, %s', a.balance, a.payment_rails, a.status,
        a.raw ->> 'balance', a.raw ->> 'paymentRails', a.raw ->> 'status') as message
    from mirror.accounts a
    join mirror.books b on b.book_id = a.book_id
    where (a.account_id::text, a.balance, a.payment_rails, a.status) is distinct from
      (mirror.lower_ascii(a.raw ->> 'accountId'), ${figure(sql, sql`a.raw ->> 'balance'`)}, a.raw ->> 'paymentRails', a.raw ->> 'status')
    union all
    select b.code, format('account %s', a.account_id),
      format('says that %s entries are booked and %s leaves %s on %s; its statement has %s, and %s leaves %s on %s', a.entries,
        a.last_entry_id, a.last_balance, a.last_occurred_at, coalesce(s.position, 0), s.entry_id, s.balance_after, s.occurred_at)
    from mirror.accounts a
    join mirror.books b on b.book_id = a.book_id
    left join lateral (
      select e.position, e.entry_id, e.balance_after, e.occurred_at from mirror.statement_entries e
      where e.book_id = a.book_id and e.account_id = a.account_id and not e.held order by e.position desc limit 1) s on true
    where (a.entries, a.last_entry_id, a.last_balance, a.last_occurred_at)
      is distinct from (coalesce(s.position, 0), s.entry_id, s.balance_after, s.occurred_at)
    union all
    select b.code, format('page boundary %s of account %s', p.position, p.account_id), 'is at no entry of that place and time'
    from sync.page_boundaries p
    join mirror.books b on b.book_id = p.book_id
    where not exists (
      select 1 from mirror.statement_entries e where e.book_id = p.book_id and e.account_id = p.account_id
        and e.position = p.position and e.occurred_at = p.occurred_at)`,
}

/** Bytes stored as received are identified by their SHA-256. */
export const verbatim: ProofQuery = {
  name: "verbatim",
  proves:
    "What is kept as it was received, in quarantine, of contradictions and of events, is what was received.",
  wrong: (sql) => sql`
    select b.code as book, format('Q%s', q.quarantine_id) as row, 'is not the row that was quarantined' as message
    from mirror.quarantine q join mirror.books b on b.book_id = q.book_id
    where q.digest <> encode(sha256(convert_to(q.raw, 'UTF8')), 'hex')
    union all
    select b.code, format('contradiction of statement entry %s', c.entry_id), 'is not what was read'
    from mirror.contradictions c join mirror.books b on b.book_id = c.book_id
    where c.digest <> case c.content when '{"absent":true}' then 'absent'
      else encode(sha256(convert_to(c.content, 'UTF8')), 'hex') end
    union all
    select i.connection, format('event %s', i.event_id), 'is not what was received'
    from webhook.inbox i where i.digest <> sha256(i.body)`,
}
