/**
 * Per account of the provider, from the books' closing balance to the provider's own balance for the month: its statement's
 * balance of everything that occurred by the month's end. That is the running balance after the last such entry by position,
 * less the movements of later months that stand before it because it came late.
 *
 * What the books date later (it came late for a closed month, or the opening balance was found later) is split as in the bridge
 * of a close. One side comes from the statement, the other from the postings: their difference must be zero.
 */
import { Effect } from "effect"
import { printed } from "../Common/AmountText.ts"
import { parse, print } from "../Common/MinorUnits.ts"
import type { Sql } from "../Database/Client.ts"
import { nullable, type RowOf, text, uuid } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { type Fragment, instantText } from "../Reconcile/ReconcileScope.ts"
import type { AccountBalance } from "./ReportBalances.ts"
import { type ReportScope, recordedBy } from "./ReportScope.ts"

export interface ReconciledAccount {
  readonly accountId: string
  readonly rail: string
  readonly currency: string
  /** Null: nothing was ever booked on the provider's account. */
  readonly balance: AccountBalance | null
  readonly opening: string
  /** Entries of earlier, closed months that are dated in this one: part of its movements. */
  readonly lateHere: string
  readonly closing: string
  /** Entries of the month that the books date to a later one. */
  readonly datedLater: string
  /** The statement's entries of earlier months, and its opening balance, that the books date after this month. */
  readonly carried: string
  /** The running balance after the provider's last entry of the month or before, and the part of it that occurred later. */
  readonly running: string
  readonly early: string
  /** `running − early` */
  readonly provider: string
  /** When the provider's last entry of the month or before occurred; null: there is none. */
  readonly providerAt: string | null
  readonly difference: string
  readonly tiesOut: boolean
}

const providerColumns = {
  accountId: uuid,
  currency: text,
  rail: text,
  running: text,
  early: text,
  provider: text,
  at: nullable(text),
  lateHere: text,
  datedLater: text,
  carried: text,
}

type ProviderRow = RowOf<typeof providerColumns>

/** When a statement entry was read: when it was booked, or for a held entry when the run that read it began. */
const read = (sql: Sql, scope: ReportScope): Fragment =>
  scope.asOf === null
    ? sql`true`
    : recordedBy(
        sql,
        scope,
        sql`coalesce(
          (select w.recorded_at from ledger.journal_entries w where w.book_id = e.book_id and w.source_id = e.entry_id
             and w.sequence = 0 and w.source_type = 'statement_entry'),
          (select r.started_at from sync.runs r where r.run_id = e.run_id))`,
      )

const signedAmount = (sql: Sql): Fragment => sql`case e.type when 'CREDIT' then e.amount else -e.amount end`

const providerRows = (sql: Sql, scope: ReportScope) => {
  const own = sql`e.book_id = a.book_id and e.account_id = a.account_id and ${read(sql, scope)}`
  const end = sql`${scope.month.end}::text::timestamptz`
  const first = sql`${scope.first}::text::date`
  return sql`
    with odd as (
      select j.partner_account_id as account_id,
        sum(p.amount) filter (where j.source_type = 'statement_entry' and j.period = ${first}) as here,
        sum(p.amount) filter (where j.source_type = 'statement_entry' and j.late_for = ${first}) as later,
        sum(p.amount) filter (where j.period > ${first} and (j.source_type = 'opening' or j.late_for < ${first})) as carried
      from ledger.journal_entries j
      join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
      join ledger.accounts c on c.book_id = p.book_id and c.account_id = p.account_id and c.role = 'cash'
      where j.book_id = ${scope.book.bookId} and ${recordedBy(sql, scope, sql`j.recorded_at`)}
        and (j.late_for is not null and (j.late_for <= ${first} or j.period = ${first})
          or j.source_type = 'opening' and j.period > ${first})
      group by j.partner_account_id)
    select a.account_id as "accountId", a.currency, a.payment_rails as rail, s.running::text as running,
      s.early::text as early, (s.running - s.early)::text as provider, ${instantText(sql, sql`s.occurred_at`)} as at,
      coalesce(l.here, 0)::text as "lateHere", coalesce(l.later, 0)::text as "datedLater",
      coalesce(l.carried, 0)::text as carried
    from mirror.accounts a
    left join lateral (
      select e.position, e.balance_after, e.occurred_at from mirror.statement_entries e
      where ${own} and e.occurred_at < ${end} order by e.position desc limit 1) t on true
    cross join lateral (
      select t.occurred_at, coalesce(t.balance_after, (
          select e.balance_after - ${signedAmount(sql)} from mirror.statement_entries e
          where ${own} order by e.position limit 1), 0) as running,
        coalesce((select sum(${signedAmount(sql)}) from mirror.statement_entries e
          where ${own} and e.position < t.position and e.occurred_at >= ${end}), 0) as early) s
    left join odd l on l.account_id = a.account_id
    where a.book_id = ${scope.book.bookId}
    order by a.currency collate "C", a.payment_rails collate "C", a.account_id`
}

const reconciled = (row: ProviderRow, balance: AccountBalance | null): ReconciledAccount => {
  const scale = balance?.account.scale ?? 0
  const closing = balance === null ? "0" : print(balance.closing, scale)
  // The service's figures may have more decimals than the currency: none is dropped.
  const digits = Math.max(
    ...[row.provider, row.datedLater, row.carried, closing].map((text) => (text.split(".")[1] ?? "").length),
  )
  const exact = (text: string) => parse(text, digits)
  const difference = exact(row.provider) - exact(closing) - exact(row.datedLater) - exact(row.carried)
  const text = (amount: string) => printed(amount, row.currency)
  return {
    ...row,
    balance,
    opening: text(balance === null ? "0" : print(balance.opening, scale)),
    closing: text(closing),
    lateHere: text(row.lateHere),
    datedLater: text(row.datedLater),
    carried: text(row.carried),
    running: text(row.running),
    early: text(row.early),
    provider: text(row.provider),
    providerAt: row.at,
    difference: text(print(difference, digits)),
    tiesOut: difference === 0n,
  }
}

/** All accounts of the provider, with or without entries. */
export const readReconciliation = Effect.fn("Report.reconciliation")(function* (
  scope: ReportScope,
  balances: ReadonlyArray<AccountBalance>,
) {
  const database = yield* Database
  const rows = yield* database.rows("Report.reconciliation", providerColumns, (sql) =>
    providerRows(sql, scope),
  )
  const cash = new Map(balances.map((balance) => [balance.account.partnerAccountId, balance]))
  return rows.map((row) => reconciled(row, cash.get(row.accountId) ?? null))
})
