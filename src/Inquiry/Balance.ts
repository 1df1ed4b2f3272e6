/** The trial balance as of a day: everything booked, numbered or not. */
import { Effect } from "effect"
import { nullable, type RowOf, text, uuid } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { toldApart } from "./Namesakes.ts"

const accountBalanceColumns = {
  code: text,
  name: text,
  role: text,
  currency: text,
  /** Of cash: the account of the service. */
  partnerAccountId: nullable(uuid),
  debit: text,
  credit: text,
  balance: text,
}

/** Amounts in the major unit of `currency`; the balance is debit positive. */
export type AccountBalance = RowOf<typeof accountBalanceColumns>

/**
 * The accounts of a book by code, with their turnover up to the end of a day (`YYYY-MM-DD`, by effective date; null: all).
 * Computed from monthly turnovers and, for a day within a month, from that month's entries, which must not be archived.
 * Accounts without postings by then are left out.
 */
export const accountBalances = Effect.fn("Balance.accounts")(function* (bookId: number, day: string | null) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Balance.accounts",
    accountBalanceColumns,
    (sql) => sql`
      with day as materialized (
        select coalesce(${day}::text::date, 'infinity'::date) as day,
          -- The end of a month is that of its turnovers: nothing of the next one is dated so early.
          case when ${day}::text is null then 'infinity'::date
            else date_trunc('month', (${day}::text::date + 1)::timestamp)::date end as month),
      turnover as (
        select b.account_id, b.debit, b.credit from ledger.balances b
        where b.book_id = ${bookId} and b.period < (select month from day)
        union all
        select p.account_id, greatest(p.amount, 0), greatest(-p.amount, 0)
        from ledger.entry_numbers n
        join ledger.journal_entries j on j.book_id = n.book_id and j.entry_id = n.entry_id
        join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
        where n.book_id = ${bookId} and n.period = (select month from day) and j.effective_date <= (select day from day))
      select a.code, a.name, a.role, a.currency, a.partner_account_id as "partnerAccountId", sum(t.debit)::text as debit, sum(t.credit)::text as credit,
        sum(t.debit - t.credit)::text as balance
      from turnover t
      join ledger.accounts a on a.book_id = ${bookId} and a.account_id = t.account_id
      group by a.code, a.name, a.role, a.currency, a.partner_account_id
      order by a.code collate "C", a.name collate "C", a.currency collate "C", a.role collate "C", a.partner_account_id`,
  )
  return toldApart(rows)
})
