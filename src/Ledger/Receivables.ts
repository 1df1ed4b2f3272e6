/** What the mirror and the books know of receivables, for `Receivable.ts` to compare. */
import { Effect, Option } from "effect"
import type { Book } from "../Book.ts"
import { textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import * as Money from "../Money.ts"
import type { Posted } from "./Posting.ts"
import type { ReceivableVersion, ReceivableView, Transaction } from "./ReceivableSteps.ts"
import type { Role } from "./Role.ts"

export interface LoadedReceivable {
  readonly receivableId: string
  readonly currency: string
  /** The client's legal name: on whose account the receivable is. */
  readonly counterparty: Option.Option<string>
  readonly versions: ReadonlyArray<ReceivableVersion>
}

interface VersionRow {
  readonly receivable_id: string
  readonly version: number
  readonly status: string
  readonly currency: string
  readonly initial_principal: string
  readonly current_principal: string
  readonly repayment_amount: string
  readonly served_at: string
  readonly counterparty: string | null
  readonly transactions: ReadonlyArray<{
    readonly purpose: "disbursement" | "repayment"
    readonly at: string
    readonly cash: string | null
  }> | null
}

const transactionsOf = (row: VersionRow, purpose: string): ReadonlyArray<Transaction> =>
  (row.transactions ?? [])
    .filter((transaction) => transaction.purpose === purpose)
    .map(({ at, cash }) => ({
      txTimestamp: at,
      cash: Option.map(Option.fromNullable(cash), Money.fromTrusted),
    }))

const versionOf = (row: VersionRow): ReceivableVersion => ({
  version: row.version,
  status: row.status,
  initialPrincipal: Money.fromTrusted(row.initial_principal),
  currentPrincipal: Money.fromTrusted(row.current_principal),
  repaymentAmount: Money.fromTrusted(row.repayment_amount),
  servedAt: row.served_at,
  disbursed: Option.fromNullable(transactionsOf(row, "disbursement")[0]),
  repayments: transactionsOf(row, "repayment"),
})

/**
 * All versions of the receivables, each with the transactions that it is the first to name. The cash of a transaction is
 * what its statement entries have against them in loan clearing: positive for a disbursement's and a repayment's normal
 * direction by the view.
 */
export const loadReceivables = Effect.fn("Ledger.loadReceivables")(function* (
  organization: Book,
  book: Book,
  ids: ReadonlyArray<string>,
  view: ReceivableView["view"],
) {
  const database = yield* Database
  // The lender's cash comes in with a repayment, and stands against a credit of loan clearing.
  const sign = view === "lender" ? -1 : 1
  const rows = yield* database.query(
    "Ledger.loadReceivables",
    (sql) => sql<Array<VersionRow>>`
      select v.receivable_id, v.version, v.status, v.currency, v.initial_principal, v.current_principal,
        v.repayment_amount, to_char(v.served_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as served_at,
        (select c.label from mirror.reference_items c
         where c.book_id = v.book_id and c.kind = 'client' and c.item_id = v.client_id::text and c.current)
          as counterparty,
        t.transactions
      from mirror.receivables v
      left join lateral (
        select json_agg(json_build_object('purpose', x.purpose,
          'at', to_char(x.tx_timestamp at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
          'cash', (case x.purpose when 'repayment' then ${sign}::integer else -${sign}::integer end * m.amount)::text)
          order by x.tx_timestamp, x.tx_id) as transactions
        from mirror.receivable_transactions x
        left join lateral (
          select sum(p.amount) as amount
          from mirror.statement_entries e
          join ledger.journal_entries j on j.book_id = e.book_id and j.source_id = e.entry_id
            and j.source_type = 'statement_entry'
          join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
          join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
          where e.book_id = x.book_id and not e.held and a.role = 'loan_clearing' and p.currency = v.currency
            and e.entry_id in (
              select i.entry_id from mirror.statement_entries i
              where i.book_id = x.book_id and i.entry_id = mirror.uuid_or_null(x.tx_id)
              union
              select i.entry_id from mirror.statement_entries i
              where i.book_id = x.book_id and i.related_id = mirror.uuid_or_null(x.tx_id)
              union
              select i.entry_id from mirror.resources r
              join mirror.statement_entries i on i.book_id = r.book_id and i.related_id = r.resource_id
                and i.related_type = r.resource_type
              where r.book_id = x.book_id and lower(r.transaction_hash) = x.tx_id)) m on true
        where x.book_id = ${book.bookId} and x.receivable_id = v.receivable_id and x.version = v.version) t on true
      where v.book_id = ${organization.bookId} and v.receivable_id = any (${textArray(sql, ids)}::uuid[])
      order by v.receivable_id, v.version`,
  )
  const loaded = new Map<string, LoadedReceivable & { readonly versions: Array<ReceivableVersion> }>()
  for (const row of rows) {
    const known = loaded.get(row.receivable_id)
    if (known !== undefined) known.versions.push(versionOf(row))
    else
      loaded.set(row.receivable_id, {
        receivableId: row.receivable_id,
        currency: row.currency,
        counterparty: Option.fromNullable(row.counterparty),
        versions: [versionOf(row)],
      })
  }
  return [...loaded.values()]
})

interface BookedRow {
  readonly receivable_id: string
  readonly sequence: number
  readonly lines: ReadonlyArray<{ readonly role: Role; readonly amount: string; readonly currency: string }>
}

/** What is booked of the receivables: by receivable, then by the sequence of the part that entries book and put right. */
export const bookedReceivables = Effect.fn("Ledger.bookedReceivables")(function* (
  book: Book,
  ids: ReadonlyArray<string>,
  partSequence: (sequence: number) => number,
) {
  const database = yield* Database
  const rows = yield* database.query(
    "Ledger.bookedReceivables",
    (sql) => sql<Array<BookedRow>>`
      select j.source_id as receivable_id, j.sequence, json_agg(json_build_object('role', a.role,
        'amount', p.amount::text, 'currency', p.currency)) as lines
      from ledger.journal_entries j
      join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
      join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
      where j.book_id = ${book.bookId} and j.source_id = any (${textArray(sql, ids)}::uuid[])
        and j.source_type = 'receivable_version'
      group by j.source_id, j.sequence order by j.source_id, j.sequence`,
  )
  const booked = new Map<string, Map<number, Posted>>()
  for (const row of rows) {
    const parts = booked.get(row.receivable_id) ?? new Map<number, Posted>()
    booked.set(row.receivable_id, parts)
    const part = partSequence(row.sequence)
    parts.set(part, {
      sequence: row.sequence,
      lines: [
        ...(parts.get(part)?.lines ?? []),
        ...row.lines.map(({ amount, currency, role }) => ({
          role,
          currency,
          amount: Money.fromTrusted(amount),
          partnerAccountId: null,
          rule: null,
        })),
      ],
    })
  }
  return booked
})
