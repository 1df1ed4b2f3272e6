/** A statement entry as a row of `mirror.statement_entries` gives it back, and what all who look at entries need of it. */
import { Option } from "effect"
import type { Amount } from "../Common/Money.ts"
import * as Money from "../Common/Money.ts"
import type { StatementEntry } from "../Partner.ts"

/** Amounts as text in the major unit of `currency`; `occurred_at` in UTC, ISO 8601. */
export interface EntryRow {
  readonly entry_id: string
  readonly account_id: string
  readonly type: "CREDIT" | "DEBIT"
  readonly amount: string
  readonly currency: string
  readonly balance_after: string
  readonly related_type: string | null
  readonly related_id: string | null
  readonly occurred_at: string
}

export const entryFromRow = (row: EntryRow): StatementEntry => ({
  entryId: row.entry_id,
  accountId: row.account_id,
  type: row.type,
  amount: Money.fromTrusted(row.amount),
  currency: row.currency,
  balanceBefore: Option.none(),
  balanceAfter: Money.fromTrusted(row.balance_after),
  relatedResourceType: Option.fromNullable(row.related_type),
  relatedResourceId: Option.fromNullable(row.related_id),
  occurredAt: row.occurred_at,
  extra: null,
})

/** What an entry does to the account's balance: a credit adds, a debit takes away. */
export const signedAmount = (entry: Pick<StatementEntry, "type" | "amount">): Amount =>
  entry.type === "CREDIT" ? entry.amount : Money.negate(entry.amount)
