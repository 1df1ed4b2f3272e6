/** Where every account stands: what the service says, and what the books say. */
import { Effect } from "effect"
import type { Book } from "../Book.ts"
import { Database } from "../Database.ts"
import { printed } from "../Reconcile/Printed.ts"

export interface Standing {
  /** The book's code. */
  readonly book: string
  readonly accountId: string
  readonly currency: string
  readonly paymentRails: string
  readonly status: string
  /** Statement entries that are booked. */
  readonly entries: number
  /** Of these, what the last run brought. */
  readonly newEntries: number
  /** The ledger's balance, major unit, at the currency's scale. */
  readonly balance: string
  readonly tiesOut: boolean
  /** What is wrong where it does not tie out. */
  readonly remark: string | null
}

interface Row {
  readonly code: string
  readonly account_id: string
  readonly currency: string
  readonly payment_rails: string
  readonly status: string
  readonly entries: bigint
  readonly ledger: string
  readonly statement: string
  readonly service: string
  readonly held: bigint
  readonly unread: boolean
  /** The service does not serve its statement, or its client. */
  readonly unserved: boolean
  /** When it was last read to its end, by the service's clock. */
  readonly read_at: string | null
  readonly blocking: string | null
}

const remarkOf = (row: Row): string | null => {
  if (row.unserved) {
    return row.read_at === null
      ? "never read: the service does not serve it"
      : `last read ${row.read_at}: the service does not serve it any more`
  }
  if (row.held > 0n) return row.held === 1n ? "1 entry is held back" : `${row.held} entries are held back`
  const ledger = printed(row.ledger, row.currency)
  const service = printed(row.service, row.currency)
  const statement = printed(row.statement, row.currency)
  if (ledger !== statement) return `the last booked entry leaves ${statement}`
  if (ledger !== service) return `the service says ${service}`
  if (row.unread) return "its statement has not been read to its end yet"
  return row.blocking === null ? null : `${row.blocking} finding`
}

const standingOf = (row: Row, newEntries: ReadonlyMap<string, number>): Standing => {
  const remark = remarkOf(row)
  return {
    book: row.code,
    accountId: row.account_id,
    currency: row.currency,
    paymentRails: row.payment_rails,
    status: row.status,
    entries: Number(row.entries),
    newEntries: newEntries.get(row.account_id) ?? 0,
    balance: printed(row.ledger, row.currency),
    tiesOut: remark === null,
    remark,
  }
}

/**
 * The accounts of the books, by book and account. An account ties out when the ledger's cash, the statement's last
 * balance and the service's balance are one figure, its statement has been read to its end and can still be read, nothing of it is held back
 * and no blocking finding on it is open. `newEntries` is what the last run brought, by account.
 */
export const accountStandings = Effect.fn("Status.accounts")(function* (
  books: ReadonlyArray<Book>,
  newEntries: ReadonlyMap<string, number>,
) {
  const database = yield* Database
  const ids = `{${books.map(({ bookId }) => bookId).join(",")}}`
  const rows = yield* database.query(
    "Status.accounts",
    (sql) => sql<Array<Row>>`
      select b.code, a.account_id, a.currency, a.payment_rails, a.status, a.entries, a.balance as service,
        coalesce(a.last_balance, 0)::text as statement, coalesce(c.amount, 0)::text as ledger, h.held,
        a.tail_read_at is null as unread, f.check_name as blocking, s.unreadable or g.book_id is not null as unserved,
        to_char(s.began_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as read_at
      from mirror.accounts a
      join reconcile.stream_standing s on s.book_id = a.book_id and s.account_id = a.account_id
      left join reconcile.gone_clients g on g.book_id = a.book_id
      join mirror.books b on b.book_id = a.book_id
      left join (
        select l.book_id, l.partner_account_id, sum(t.debit - t.credit) as amount
        from ledger.accounts l
        join ledger.balances t on t.book_id = l.book_id and t.account_id = l.account_id
        where l.book_id = any (${ids}::text::integer[]) and l.role = 'cash'
        group by l.book_id, l.partner_account_id) c
        on c.book_id = a.book_id and c.partner_account_id = a.account_id
      cross join lateral (
        select count(*) as held from mirror.statement_entries e
        where e.book_id = a.book_id and e.account_id = a.account_id and e.position > a.entries and e.held) h
      left join (
        select x.book_id, x.subject_id, min(x.check_name) as check_name from reconcile.findings x
        where x.book_id = any (${ids}::text::integer[]) and x.closed_at is null and x.severity = 'blocking'
          and x.subject_type = 'account'
        group by x.book_id, x.subject_id) f on f.book_id = a.book_id and f.subject_id = a.account_id::text
      where a.book_id = any (${ids}::text::integer[])
      order by b.code, a.account_id`,
  )
  return rows.map((row) => standingOf(row, newEntries))
})
