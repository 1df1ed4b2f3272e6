/** A receivable in all its versions, the transactions that it names, and where their cash is. */
import { and, desc, eq } from "drizzle-orm"
import { Effect, Schema } from "effect"
import { printedSum } from "../Common/AmountText.ts"
import { int4, jsonOf, nullable, type RowOf, text } from "../Database/Columns.ts"
import { asText, isoText } from "../Database/Tables/ColumnTypes.ts"
import { receivables } from "../Database/Tables/Credit.ts"
import { referenceItems } from "../Database/Tables/Mirror.ts"
import { runs } from "../Database/Tables/Sync.ts"
import { Database } from "../Database.ts"
import { instantText } from "../Reconcile/ReconcileScope.ts"
import { runColumns, runText, type Step } from "./Step.ts"

/** The versions: `first`, then the others, newest first. `bookId` is the organization's. */
export const receivableVersions = Effect.fn("Explain.receivableVersions")(function* (
  bookId: number,
  id: string,
  first?: number,
) {
  const database = yield* Database
  const rows = yield* database.orm("Explain.receivableVersions", (orm) =>
    orm
      .select({
        version: receivables.version,
        current: receivables.current,
        posted: receivables.posted,
        clientId: receivables.clientId,
        client: referenceItems.label,
        status: receivables.status,
        currency: receivables.currency,
        rail: receivables.paymentRails,
        initialPrincipal: receivables.initialPrincipal,
        currentPrincipal: receivables.currentPrincipal,
        repaymentAmount: receivables.repaymentAmount,
        issueDate: isoText(receivables.issueDate),
        servedAt: isoText(receivables.servedAt),
        raw: asText(receivables.raw),
        runId: receivables.runId,
        ...runColumns,
      })
      .from(receivables)
      .leftJoin(runs, eq(runs.runId, receivables.runId))
      .leftJoin(
        referenceItems,
        and(
          eq(referenceItems.bookId, receivables.bookId),
          eq(referenceItems.kind, "client"),
          eq(referenceItems.itemId, asText(receivables.clientId)),
          referenceItems.current,
        ),
      )
      .where(and(eq(receivables.bookId, bookId), eq(receivables.receivableId, id)))
      .orderBy(desc(eq(receivables.version, first ?? 0)), desc(receivables.version)),
  )
  return rows.map((row): Step => {
    const sum = (amount: string) => printedSum(amount, row.currency)
    return {
      title: `receivable ${id}, version ${row.version}`,
      facts: [
        ["status", row.status],
        ["principal", `${sum(row.currentPrincipal)} of ${sum(row.initialPrincipal)}`],
        ["repayment amount", sum(row.repaymentAmount)],
        ["said at", `${row.servedAt} (the service's time)`],
        ["issued", `${row.issueDate} (the service's time)`],
        ["client", row.client === null ? row.clientId : `${row.clientId}  ${row.client}`],
        ["rail", row.rail],
        ["current", row.current ? "yes" : "no, a later version has superseded it"],
        ["booked", row.posted ? "yes" : "not yet"],
        ["read by", runText(row) ?? "?"],
        ["as sent", row.raw],
      ],
    }
  })
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
      where t.book_id = any (${`{${books.join(",")}}`}::integer[]) and t.receivable_id = ${id}
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
