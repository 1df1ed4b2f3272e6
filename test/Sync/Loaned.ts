/** Receivables of 1,000 with 25 of interest, their cash on the statement, and their items in loan clearing. */
import { Effect } from "effect"
import { move, receivable } from "./Lending.ts"
import { id } from "./Partnership.ts"
import { rows } from "./Runs.ts"

export const surfaces = { TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, credit]}}" }
export const borrower = {
  TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, client, credit]}}",
  TIEOUT_ACCOUNTING_RECEIVABLES_VIEW: "borrower",
}

export const at = (day: number) => `2026-10-${String(day).padStart(2, "0")}T12:00:00Z`
export const tx = (txId: string, day: number) => ({ txId, txTimestamp: at(day) })

export const standing = rows(`
  select a.role || ' ' || trim_scale(sum(t.debit - t.credit))::text as line from ledger.balances t
  join ledger.accounts a on a.book_id = t.book_id and a.account_id = t.account_id
  group by a.role having sum(t.debit - t.credit) <> 0 order by 1`).pipe(
  Effect.map((found) => found.map(({ line }) => line)),
)

/** The items in loan clearing, named by the last digits of the receivable. */
export const items = rows(`
  select coalesce(right(receivable_id::text, 3), 'nobody') || ' ' || trim_scale(amount) || ' ' || coalesce(purpose, '')
    || ' due ' || trim_scale(due) || ' paid ' || trim_scale(paid) || ' since ' || coalesce(since::text, '') as line
  from reconcile.loan_clearing_items order by 1`).pipe(Effect.map((found) => found.map(({ line }) => line)))

/** The same from the open items, with one line per movement for cash that no receivable names. */
export const told = rows(`
  select case when i.item_type = 'RECEIVABLE' then right(i.item_id::text, 3) else 'nobody' end || ' '
    || trim_scale(sum(i.amount))::text as line
  from mirror.books b
  cross join lateral ledger.open_items(b.book_id) i
  join ledger.accounts a on a.book_id = b.book_id and a.account_id = i.account_id and a.role = 'loan_clearing'
  group by b.book_id, a.currency, case when i.item_type = 'RECEIVABLE' then right(i.item_id::text, 3) else 'nobody' end
  order by 1`).pipe(Effect.map((found) => found.map(({ line }) => line)))

export const short = Effect.map(items, (lines) =>
  lines.map((line) => String(line).split(" ").slice(0, 2).join(" ")).sort(),
)

export const messages = rows(`
  select message, evidence from reconcile.findings
  where closed_at is null and check_name = 'loan-clearing' order by message`)

/** Books and currencies in which the items of loan clearing do not add up to its balance. */
export const unexplained = rows(`
  select b.book_id, b.currency, b.amount, i.amount as items from (
    select a.book_id, a.currency, sum(t.debit - t.credit) as amount from ledger.accounts a
    join ledger.balances t on t.book_id = a.book_id and t.account_id = a.account_id
    where a.role = 'loan_clearing' group by 1, 2) b
  left join (select book_id, currency, sum(amount) as amount from reconcile.loan_clearing_items group by 1, 2) i
    using (book_id, currency)
  where b.amount <> coalesce(i.amount, 0)`)

export const second = id(901)
type Item = Record<string, unknown>
export const loan = (over: Item = {}) => receivable({ status: "ACTIVE", repaymentAmount: "1025.00", ...over })
export const paid = (txId: string, over: Item = {}) =>
  receivable({
    status: "PAID",
    currentPrincipal: "0.00",
    repaymentAmount: "0.00",
    repaymentTransactions: [tx(txId, 20)],
    ...over,
  })

/** Moves the cash of two loans: 1,000 each, by a movement of its own. */
export const lent = (held: Parameters<typeof move>[0], book = "", incoming = false) => [
  move(held, book, { type: incoming ? "CREDIT" : "DEBIT", amount: 1000, on: at(2) }),
  move(held, book, { type: incoming ? "CREDIT" : "DEBIT", amount: 1000, on: at(3) }),
]
