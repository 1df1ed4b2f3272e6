/** What the mirror and the books know of receivables, for `Receivable.ts` to compare. */
import { Effect } from "effect"
import type { Book } from "../../Book.ts"
import * as Money from "../../Common/Money.ts"
import { int4, jsonRows, oneOf, text, uuid } from "../../Database/Columns.ts"
import { textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import { roles } from "../Role.ts"
import type { Named } from "./Claims.ts"
import type { PostedPart } from "./Receivable.ts"
import type { ReceivableView } from "./ReceivableVersion.ts"
import type { Moved } from "./Sharing.ts"

/** The receivables with all others that are connected to them through transactions, in order. */
export const connectedReceivables = Effect.fn("Ledger.connectedReceivables")(function* (
  book: Book,
  ids: ReadonlyArray<string>,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Ledger.connectedReceivables",
    { receivable_id: text },
    (sql) => sql`
      -- Each receivable, transaction and entry is gone on from once: thousands of receivables may share one payment.
      with recursive connected (receivable_id, tx_id, entry_id) as (
        select unnest(${textArray(sql, ids)}::uuid[]), null::text, null::uuid
        union
        select n.receivable_id, n.tx_id, n.entry_id from connected c
        cross join lateral (
          -- Step by step, whatever the planner believes of the tables, and only the step that is meant.
          select null::uuid as receivable_id, t.tx_id, null::uuid as entry_id
          from (
            select t.tx_id from mirror.receivable_transactions t
            where c.receivable_id is not null and t.book_id = ${book.bookId} and t.receivable_id = c.receivable_id offset 0) t
          union all
          select o.receivable_id, null, null
          from (
            select o.receivable_id from mirror.receivable_transactions o
            where c.tx_id is not null and o.book_id = ${book.bookId} and o.tx_id = c.tx_id offset 0) o
          union all
          select null, null, e.entry_id
          from (
            select e.entry_id from mirror.entries_of_transaction(${book.bookId}, c.tx_id) as e (entry_id)
            where c.tx_id is not null offset 0) e
          union all
          select null, x.tx_id, null
          from (
            select x.tx_id from mirror.transactions_of_entry(${book.bookId}, c.entry_id) as x (tx_id)
            where c.entry_id is not null offset 0) x
          where exists (
            select from mirror.receivable_transactions t where t.book_id = ${book.bookId} and t.tx_id = x.tx_id offset 0)
          ) n)
      select receivable_id::text as receivable_id from connected where receivable_id is not null order by 1`,
  )
  return rows.map(({ receivable_id: id }) => id)
})

const namedColumns = {
  receivable_id: uuid,
  tx_id: text,
  version: int4,
  purpose: oneOf("disbursement", "repayment"),
  tx_timestamp: text,
}

/** The transactions that the receivables name. */
export const namedTransactions = Effect.fn("Ledger.namedTransactions")(function* (
  book: Book,
  ids: ReadonlyArray<string>,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Ledger.namedTransactions",
    namedColumns,
    (sql) => sql`
      select t.receivable_id, t.tx_id, t.version, t.purpose,
        to_char(t.tx_timestamp at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as tx_timestamp
      from mirror.receivable_transactions t
      where t.book_id = ${book.bookId} and t.receivable_id = any (${textArray(sql, ids)}::uuid[])
      order by t.tx_timestamp, t.tx_id, t.receivable_id`,
  )
  return rows.map(
    ({ purpose, receivable_id: receivableId, tx_id: txId, tx_timestamp: txTimestamp, version }): Named => ({
      receivableId,
      txId,
      version,
      purpose,
      txTimestamp,
    }),
  )
})

const movedColumns = {
  tx_id: text,
  entry_id: uuid,
  currency: text,
  amount: text,
}

/**
 * The cash of the transactions: what stands in loan clearing against each statement entry that they lead to. The lender's
 * comes in against a credit, the borrower's goes out against a debit.
 */
export const movedCash = Effect.fn("Ledger.movedCash")(function* (
  book: Book,
  txIds: ReadonlyArray<string>,
  view: ReceivableView["view"],
) {
  const database = yield* Database
  const sign = view === "lender" ? -1 : 1
  const rows = yield* database.rows(
    "Ledger.movedCash",
    movedColumns,
    (sql) => sql`
      select w.tx_id, w.entry_id, p.currency,
        (${sign}::integer * coalesce(sum(p.amount) filter (where a.role = 'loan_clearing' and a.rule_code = ''), 0))::text
          as amount
      -- Each transaction is looked up once, whatever the planner believes of the tables: it knows nothing of small ones.
      from (
        select w.tx_id, e.entry_id from unnest(${textArray(sql, txIds)}) as w (tx_id)
        cross join lateral mirror.entries_of_transaction(${book.bookId}, w.tx_id) as e (entry_id) offset 0) w
      cross join lateral (
        select j.book_id, j.entry_id from ledger.journal_entries j
        where j.book_id = ${book.bookId} and j.source_id = w.entry_id
          and j.source_type in ('statement_entry', 'manual') offset 0) j
      join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
      join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
      group by w.tx_id, w.entry_id, p.currency
      -- A movement that was all fee is linked as well: it paid nothing.
      having bool_or(a.role = 'loan_clearing' and a.rule_code = '') or bool_and(a.role in ('cash', 'fees'))
      order by w.tx_id, w.entry_id, p.currency`,
  )
  return rows.map(
    ({ amount, currency, entry_id: entryId, tx_id: txId }): Moved => ({
      txId,
      entryId,
      currency,
      amount: Money.fromTrusted(amount),
    }),
  )
})

const bookedColumns = {
  receivable_id: uuid,
  sequence: int4,
  corrections: int4,
  lines: jsonRows({ role: oneOf(...roles), amount: text, currency: text }),
}

/** What is booked of the receivables, by receivable and then by the part's sequence. */
export const bookedReceivables = Effect.fn("Ledger.bookedReceivables")(function* (
  book: Book,
  ids: ReadonlyArray<string>,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Ledger.bookedReceivables",
    bookedColumns,
    (sql) => sql`
      select s.receivable_id, s.sequence, max(s.corrections) as corrections,
        json_agg(json_build_object('role', s.role, 'amount', s.amount::text, 'currency', s.currency) order by s.role) as lines
      from (
        select j.source_id as receivable_id, j.sequence, max(j.correction) as corrections, a.role, p.currency,
          sum(p.amount) as amount
        from ledger.journal_entries j
        join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
        join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
        where j.book_id = ${book.bookId} and j.source_id = any (${textArray(sql, ids)}::uuid[])
          and j.source_type = 'receivable_version'
        group by j.source_id, j.sequence, a.role, p.currency) s
      group by s.receivable_id, s.sequence order by s.receivable_id, s.sequence`,
  )
  const booked = new Map<string, Map<number, PostedPart>>()
  for (const { corrections, lines, receivable_id: id, sequence } of rows) {
    const parts = booked.get(id) ?? new Map<number, PostedPart>()
    booked.set(id, parts)
    parts.set(sequence, {
      corrections,
      lines: lines.map(({ amount, currency, role }) => ({
        role,
        currency,
        amount: Money.fromTrusted(amount),
        partnerAccountId: null,
        rule: null,
      })),
    })
  }
  return booked
})
