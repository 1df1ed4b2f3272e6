/** A receivable in all its versions, the transactions that it names, and where their cash is. */
import { Effect, Schema } from "effect"
import { printedSum } from "../Common/AmountText.ts"
import { bool, int4, jsonOf, nullable, numeric, type RowOf, text, uuid } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { instantText } from "../Reconcile/ReconcileScope.ts"
import { runText, type Step } from "./Step.ts"

const versionColumns = {
  version: int4,
  current: bool,
  posted: bool,
  client_id: uuid,
  client: nullable(text),
  status: text,
  currency: text,
  payment_rails: text,
  initial_principal: numeric,
  current_principal: numeric,
  repayment_amount: numeric,
  issue_date: text,
  served_at: text,
  read_at: text,
  raw: text,
  run_id: int4,
  command: nullable(text),
  started_at: nullable(text),
}

type VersionRow = RowOf<typeof versionColumns>

const versionStep = (id: string, row: VersionRow): Step => {
  const sum = (amount: string) => printedSum(amount, row.currency)
  return {
    title: `receivable ${id}, version ${row.version}`,
    facts: [
      ["status", row.status],
      ["principal", `${sum(row.current_principal)} of ${sum(row.initial_principal)}`],
      ["repayment amount", sum(row.repayment_amount)],
      ["said at", `${row.served_at} (the service's time)`],
      ["issued", `${row.issue_date} (the service's time)`],
      ["client", row.client === null ? row.client_id : `${row.client_id}  ${row.client}`],
      ["rail", row.payment_rails],
      ["current", row.current ? "yes" : "no, a later version has superseded it"],
      ["booked", row.posted ? "yes" : "not yet"],
      ["read by", runText(row) ?? "?"],
      ["as sent", row.raw],
    ],
  }
}

/** The versions: `first`, then the others, newest first. `bookId` is the organization's. */
export const receivableVersions = Effect.fn("Explain.receivableVersions")(function* (
  bookId: number,
  id: string,
  first?: number,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Explain.receivableVersions",
    versionColumns,
    (sql) => sql`
      select v.version, v.current, v.posted, v.client_id, v.status, v.currency, v.payment_rails, v.initial_principal,
        v.current_principal, v.repayment_amount, v.raw::text as raw, v.run_id, r.command,
        ${instantText(sql, sql`r.started_at`)} as started_at, ${instantText(sql, sql`v.issue_date`)} as issue_date,
        ${instantText(sql, sql`v.served_at`)} as served_at, ${instantText(sql, sql`v.read_at`)} as read_at,
        (select c.label from mirror.reference_items c
         where c.book_id = v.book_id and c.kind = 'client' and c.item_id = v.client_id::text and c.current) as client
      from mirror.receivables v left join sync.runs r on r.run_id = v.run_id
      where v.book_id = ${bookId} and v.receivable_id = ${id}
      order by v.version = ${first ?? 0} desc, v.version desc`,
  )
  return rows.map((row) => versionStep(id, row))
})

const transactionColumns = {
  book_id: int4,
  tx_id: text,
  purpose: text,
  version: int4,
  tx_timestamp: text,
  entries: nullable(jsonOf(Schema.Array(Schema.String))),
}

type TransactionRow = RowOf<typeof transactionColumns>

const transactionStep = (row: TransactionRow): Step => ({
  title: `${row.purpose} ${row.tx_id}`,
  facts: [
    ["named by", `version ${row.version}`],
    ["at", `${row.tx_timestamp} (the service's time)`],
    ...(row.entries === null
      ? [["cash", "no statement entry that is read so far"] as const]
      : row.entries.map((entry) => ["cash", `statement entry ${entry}`] as const)),
  ],
})

/** The transactions in order of time, with the entries that moved their cash: by identifier, by resource, by transaction hash. */
export const receivableTransactions = Effect.fn("Explain.receivableTransactions")(function* (
  books: ReadonlyArray<number>,
  id: string,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Explain.receivableTransactions",
    transactionColumns,
    (sql) => sql`
      select t.book_id, t.tx_id, t.purpose, t.version, ${instantText(sql, sql`t.tx_timestamp`)} as tx_timestamp,
        (select json_agg(f.entry_id order by f.entry_id)
         from mirror.entries_of_transaction(t.book_id, t.tx_id) as f (entry_id)) as entries
      from mirror.receivable_transactions t
      where t.book_id = any (${`{${books.join(",")}}`}::text::integer[]) and t.receivable_id = ${id}
      order by t.tx_timestamp, t.tx_id`,
  )
  return rows.map((row) => ({
    bookId: row.book_id,
    entries: row.entries ?? [],
    step: transactionStep(row),
  }))
})

/** Where a receivable is kept (the organization's book), and the books that it may be posted in. */
export const receivableBooks = Effect.fn("Explain.receivableBooks")(function* (bookId: number, id: string) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Explain.receivableBooks",
    { kept: int4, book_id: int4 },
    (sql) => sql`
      select o.book_id as kept, p.book_id
      from mirror.books b
      join mirror.books o on o.connection = b.connection and o.client_id is null
      join mirror.receivables v on v.book_id = o.book_id and v.receivable_id = ${id} and v.current
      join mirror.books p on p.connection = b.connection and (p.client_id is null or p.client_id = v.client_id)
      where b.book_id = ${bookId} order by p.book_id`,
  )
  return { kept: rows[0]?.kept ?? bookId, books: rows.map((row) => row.book_id) }
})
