/** An account: what the service says of it, and what the books hold. */
import { Effect } from "effect"
import { printedSum } from "../Common/AmountText.ts"
import { counted } from "../Common/Text.ts"
import { int8, nullable, numeric, type RowOf, text, uuid } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { instantText } from "../Reconcile/ReconcileScope.ts"
import { factsIfKnown, type Step } from "./Step.ts"

const columns = {
  code: text,
  currency: text,
  payment_rails: text,
  status: text,
  balance: numeric,
  balance_read_at: text,
  entries: int8,
  last_balance: nullable(numeric),
  last_entry_id: nullable(uuid),
  tail_read_at: nullable(text),
  unlisted_since: nullable(text),
  raw: text,
  ledger_account: nullable(text),
  ledger: text,
}

type Row = RowOf<typeof columns>

const stepOf = (id: string, row: Row): Step => ({
  title: `account ${id}`,
  facts: [
    ["book", row.code],
    ["currency", row.currency],
    ["rail", row.payment_rails],
    ["status", row.status],
    ...factsIfKnown("not listed since", row.unlisted_since),
    [
      "the books hold",
      `${printedSum(row.ledger, row.currency)}${row.ledger_account === null ? "" : `  ${row.ledger_account}`}`,
    ],
    [
      "statement",
      row.last_balance === null
        ? "no entries"
        : `ends at ${printedSum(row.last_balance, row.currency)} after ${counted(row.entries, "entry", "entries")}`,
    ],
    ...factsIfKnown("last entry", row.last_entry_id),
    ["read to its end", row.tail_read_at ?? "not yet"],
    ["the service says", `${printedSum(row.balance, row.currency)} at ${row.balance_read_at}`],
    ["as sent", row.raw],
  ],
})

export const account = Effect.fn("Explain.account")(function* (bookId: number, id: string) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Explain.account",
    columns,
    (sql) => sql`
      select b.code, a.currency, a.payment_rails, a.status, a.balance, a.entries, a.last_balance, a.last_entry_id,
        a.raw::text as raw, ${instantText(sql, sql`a.balance_read_at`)} as balance_read_at,
        ${instantText(sql, sql`a.tail_read_at`)} as tail_read_at,
        ${instantText(sql, sql`a.unlisted_since`)} as unlisted_since,
        c.code || '  ' || c.name as ledger_account, s.ledger::text as ledger
      from mirror.accounts a
      join mirror.books b on b.book_id = a.book_id
      join reconcile.account_standings s on s.book_id = a.book_id and s.account_id = a.account_id
      left join ledger.accounts c on c.book_id = a.book_id and c.partner_account_id = a.account_id
      where a.book_id = ${bookId} and a.account_id = ${id}`,
  )
  return rows.map((row) => stepOf(id, row))
})
