/**
 * `account-reconciliation.csv`: per account of the provider, from the books' opening over its movements by kind to their
 * closing, and from there to the provider's own balance: the running balance of the last statement entry of the month.
 *
 * What the statement has by then and the books date later (it came late for a closed month, or the opening balance was
 * found later) is a line of its own. What remains is the difference: zero. Major units at the currency's scale.
 */
import { Effect } from "effect"
import type { Sql } from "../Database/Client.ts"
import { Database } from "../Database.ts"
import { parse, print } from "../Export/MinorUnits.ts"
import { printed } from "../Reconcile/Printed.ts"
import { type Fragment, instantText } from "../Reconcile/Scope.ts"
import type { AccountBalance } from "./Balances.ts"
import { known, type ReportScope } from "./Scope.ts"
import type { Row } from "./Sheet.ts"

export const reconciliationSheet = {
  name: "account-reconciliation.csv",
  columns: {
    provider_account: "text",
    rail: "text",
    currency: "text",
    account_code: "text",
    account_name: "text",
    line: "text",
    kind: "text",
    postings: "figure",
    amount: "figure",
    remark: "text",
  },
} as const

export interface ReconciledAccount {
  readonly accountId: string
  readonly rail: string
  readonly currency: string
  /** Null: the provider has an account that nothing was ever booked on. */
  readonly balance: AccountBalance | null
  readonly opening: string
  readonly closing: string
  readonly datedLater: string
  readonly provider: string
  /** When the provider's last entry of the month occurred; null: there is none yet. */
  readonly providerAt: string | null
  readonly difference: string
  readonly tiesOut: boolean
}

interface ProviderRow {
  readonly accountId: string
  readonly currency: string
  readonly rail: string
  readonly provider: string
  readonly at: string | null
  readonly datedLater: string
}

/** A statement entry was read when it was booked; one that is held back, when the run that read it began. */
const read = (sql: Sql, scope: ReportScope): Fragment =>
  scope.asOf === null
    ? sql`true`
    : known(
        sql,
        scope,
        sql`coalesce(
          (select w.recorded_at from ledger.journal_entries w where w.book_id = e.book_id and w.source_id = e.entry_id
             and w.sequence = 0 and w.source_type = 'statement_entry'),
          (select r.started_at from sync.runs r where r.run_id = e.run_id))`,
      )

const moved = (sql: Sql): Fragment => sql`case e.type when 'CREDIT' then e.amount else -e.amount end`

const providerRows = (sql: Sql, scope: ReportScope) => {
  const own = sql`e.book_id = a.book_id and e.account_id = a.account_id and ${read(sql, scope)}`
  const end = sql`${scope.month.end}::text::timestamptz`
  return sql<Array<ProviderRow>>`
    with later as (
      select j.partner_account_id as account_id, sum(p.amount) as amount
      from ledger.journal_entries j
      join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
      join ledger.accounts c on c.book_id = p.book_id and c.account_id = p.account_id and c.role = 'cash'
      where j.book_id = ${scope.book.bookId} and (j.source_type = 'opening' or j.late_for <= ${scope.first}::text::date)
        and j.period > ${scope.first}::text::date and ${known(sql, scope, sql`j.recorded_at`)}
      group by j.partner_account_id)
    select a.account_id as "accountId", a.currency, a.payment_rails as rail,
      coalesce(s.balance_after, f.before, 0)::text as provider, ${instantText(sql, sql`s.occurred_at`)} as at,
      (coalesce(l.amount, 0) + coalesce(o.amount, 0))::text as "datedLater"
    from mirror.accounts a
    left join lateral (
      select e.position, e.balance_after, e.occurred_at from mirror.statement_entries e
      where ${own} and e.occurred_at < ${end} order by e.position desc limit 1) s on true
    left join lateral (
      select e.balance_after - ${moved(sql)} as before from mirror.statement_entries e
      where ${own} order by e.position limit 1) f on true
    -- Before it in the statement and yet of a later month.
    left join lateral (
      select sum(${moved(sql)}) as amount from mirror.statement_entries e
      where ${own} and e.position < s.position and e.occurred_at >= ${end}) o on true
    left join later l on l.account_id = a.account_id
    where a.book_id = ${scope.book.bookId}
    order by a.currency collate "C", a.payment_rails collate "C", a.account_id`
}

const reconciled = (row: ProviderRow, balance: AccountBalance | null): ReconciledAccount => {
  const scale = balance?.account.scale ?? 0
  const closing = balance === null ? "0" : print(balance.closing, scale)
  // The service's own figures may have more decimals than the currency: nothing of them is dropped.
  const digits = Math.max(
    ...[row.provider, row.datedLater, closing].map((text) => (text.split(".")[1] ?? "").length),
  )
  const exact = (text: string) => parse(text, digits)
  const difference = exact(row.provider) - exact(closing) - exact(row.datedLater)
  const text = (amount: string) => printed(amount, row.currency)
  return {
    ...row,
    balance,
    opening: text(balance === null ? "0" : print(balance.opening, scale)),
    closing: text(closing),
    datedLater: text(row.datedLater),
    provider: text(row.provider),
    providerAt: row.at,
    difference: text(print(difference, digits)),
    tiesOut: difference === 0n,
  }
}

/** Accounts of the provider, those without any entry among them. */
export const readReconciliation = Effect.fn("Report.reconciliation")(function* (
  scope: ReportScope,
  balances: ReadonlyArray<AccountBalance>,
) {
  const database = yield* Database
  const rows = yield* database.query("Report.reconciliation", (sql) => providerRows(sql, scope))
  const cash = new Map(balances.map((balance) => [balance.account.partnerAccountId, balance]))
  return rows.map((row) => reconciled(row, cash.get(row.accountId) ?? null))
})

export const reconciliationRows = (
  accounts: ReadonlyArray<ReconciledAccount>,
): ReadonlyArray<Row<typeof reconciliationSheet.columns>> =>
  accounts.flatMap((account) => {
    const { balance } = account
    const head = {
      provider_account: account.accountId,
      rail: account.rail,
      currency: account.currency,
      account_code: balance?.account.code ?? null,
      account_name: balance?.account.name ?? null,
      kind: null,
      postings: null,
      remark: null,
    }
    const movements = (balance?.movements ?? []).map(({ credit, debit, kind, postings }) => ({
      ...head,
      line: "movement",
      kind,
      postings: String(postings),
      amount: print(debit - credit, balance?.account.scale ?? 0),
    }))
    return [
      { ...head, line: "opening per books", amount: account.opening },
      ...movements,
      { ...head, line: "closing per books", amount: account.closing },
      { ...head, line: "dated later by the books", amount: account.datedLater },
      {
        ...head,
        line: "provider's balance",
        amount: account.provider,
        remark: account.providerAt === null ? "no entry yet" : `after its entry of ${account.providerAt}`,
      },
      {
        ...head,
        line: "difference",
        amount: account.difference,
        remark: account.tiesOut ? null : "DOES NOT TIE OUT",
      },
    ]
  })
