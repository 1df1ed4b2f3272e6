/** A statement entry as a row of `mirror.statement_entries`, with the columns that every reader of entries needs. */
import { Option } from "effect"
import type { Amount } from "../Common/Money.ts"
import * as Money from "../Common/Money.ts"
import { nullable, numeric, oneOf, type RowOf, text, uuid } from "../Database/Columns.ts"
import type { StatementEntry } from "../Partner.ts"

export const entryColumns = {
  entry_id: uuid,
  account_id: uuid,
  type: oneOf("CREDIT", "DEBIT"),
  amount: numeric,
  currency: text,
  balance_after: numeric,
  related_type: nullable(text),
  related_id: nullable(uuid),
  /** In UTC, ISO 8601. */
  occurred_at: text,
}

/** Amounts in the major unit of `currency`. */
type EntryRow = RowOf<typeof entryColumns>

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
