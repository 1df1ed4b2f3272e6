/** Where every book stands, in one row each, the worst first. */
import { Effect } from "effect"
import { textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import { printed } from "../../Reconcile/Printed.ts"

export interface BookStanding {
  readonly connection: string
  /** The book's code; its name is a client's and is not shown. */
  readonly code: string
  readonly accounts: number
  /** Accounts that do not tie out: as `tieout status` has it. */
  readonly off: number
  /** Accounts whose statement has never been read to its end. */
  readonly unread: number
  /** Statement entries that are booked. */
  readonly entries: bigint
  /** Seconds since the oldest of its statements was read to its end; null where none was. */
  readonly lag: number | null
  readonly blocking: number
  readonly warnings: number
  readonly quarantined: number
  readonly tiesOut: boolean
}

export interface Balance {
  readonly currency: string
  /** Major unit, at the currency's scale. */
  readonly amount: string
}

interface Row {
  readonly connection: string
  readonly code: string
  readonly accounts: number
  readonly off: number
  readonly unread: number
  readonly entries: bigint
  readonly lag: number | null
  readonly blocking: number
  readonly warnings: number
  readonly quarantined: number
}

/**
 * The books that hold accounts. An account ties out when the ledger's cash, the statement's last balance and the
 * service's balance are one figure, its statement has been read to its end and can still be read, nothing of it is held back
 * and no blocking finding on it is open.
 */
export const bookStandings = Effect.fn("Overview.books")(function* () {
  const database = yield* Database
  const rows = yield* database.query(
    "Overview.books",
    (sql) => sql<Array<Row>>`
      with cash as (
        select l.book_id, l.partner_account_id, sum(t.debit - t.credit) as amount
        from ledger.accounts l
        join ledger.balances t on t.book_id = l.book_id and t.account_id = l.account_id
        where l.role = 'cash' group by l.book_id, l.partner_account_id),
      blocked as (
        select distinct book_id, subject_id from reconcile.findings
        where closed_at is null and severity = 'blocking' and subject_type = 'account'),
      standing as (
        select a.book_id, count(*)::integer as accounts, coalesce(sum(a.entries), 0)::bigint as entries,
          count(*) filter (where a.tail_read_at is null)::integer as unread,
          (count(*) filter (where a.tail_read_at is null or f.subject_id is not null or s.unreadable
            or a.book_id in (select g.book_id from reconcile.gone_clients g)
            or coalesce(c.amount, 0) <> coalesce(a.last_balance, 0) or coalesce(c.amount, 0) <> a.balance
            or exists (
              select 1 from mirror.statement_entries e
              where e.book_id = a.book_id and e.account_id = a.account_id and e.position > a.entries and e.held)
            ))::integer as off,
          extract(epoch from now() - min(a.tail_read_at))::float8 as lag
        from mirror.accounts a
        join reconcile.stream_standing s on s.book_id = a.book_id and s.account_id = a.account_id
        left join cash c on c.book_id = a.book_id and c.partner_account_id = a.account_id
        left join blocked f on f.book_id = a.book_id and f.subject_id = a.account_id::text
        group by a.book_id),
      open as (
        select book_id, (count(*) filter (where severity = 'blocking'))::integer as blocking,
          (count(*) filter (where severity = 'warning'))::integer as warnings
        from reconcile.findings where closed_at is null group by book_id),
      waiting as (
        select book_id, count(*)::integer as quarantined from mirror.quarantine
        where resolved_at is null group by book_id)
      select b.connection, b.code, coalesce(s.accounts, 0) as accounts, coalesce(s.off, 0) as off,
        coalesce(s.unread, 0) as unread, coalesce(s.entries, 0)::bigint as entries, s.lag,
        coalesce(o.blocking, 0) as blocking, coalesce(o.warnings, 0) as warnings,
        coalesce(w.quarantined, 0) as quarantined
      from mirror.books b
      left join standing s on s.book_id = b.book_id
      left join open o on o.book_id = b.book_id
      left join waiting w on w.book_id = b.book_id
      where s.book_id is not null or o.book_id is not null or w.book_id is not null
      order by off desc, blocking desc, quarantined desc, warnings desc, s.lag desc nulls first, b.code`,
  )
  return rows.map(
    (row): BookStanding => ({
      ...row,
      tiesOut: row.off === 0 && row.blocking === 0 && row.quarantined === 0,
    }),
  )
})

/** The ledger's cash of some books by book and currency, each currency by itself. */
export const cashBalances = Effect.fn("Overview.balances")(function* (codes: ReadonlyArray<string>) {
  const database = yield* Database
  const rows = yield* database.query(
    "Overview.balances",
    (sql) => sql<Array<{ code: string; currency: string; amount: string }>>`
      select b.code, l.currency, sum(t.debit - t.credit)::text as amount
      from mirror.books b
      join ledger.accounts l on l.book_id = b.book_id and l.role = 'cash'
      join ledger.balances t on t.book_id = l.book_id and t.account_id = l.account_id
      where b.code = any (${textArray(sql, codes)})
      group by b.code, l.currency order by b.code, l.currency`,
  )
  const balances = new Map<string, Array<Balance>>()
  for (const { amount, code, currency } of rows) {
    const own = balances.get(code) ?? []
    own.push({ currency, amount: printed(amount, currency) })
    balances.set(code, own)
  }
  return balances
})
