/** The register of an account: its postings in the order of the books, with the balance after each. */
import { Array as Arr, Effect } from "effect"
import { archivedThrough } from "../Book/Archived.ts"
import { byBook, isIn } from "../Book/ByBook.ts"
import * as Money from "../Common/Money.ts"
import { int4, nullable, type RowOf, text, uuid } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { toldApart } from "./Namesakes.ts"

/** An account of the books. */
export const accountColumns = {
  bookId: int4,
  accountId: int4,
  code: text,
  name: text,
  role: text,
  currency: text,
}

const ofTheService = { ...accountColumns, partnerAccountId: nullable(uuid) }

export type RegisterAccount = Omit<RowOf<typeof ofTheService>, "bookId">

const lineColumns = {
  date: text,
  /** The journal number within the period; null: none yet. */
  number: nullable(int4),
  period: text,
  kind: text,
  description: text,
  resourceType: nullable(text),
  resourceId: nullable(uuid),
  externalReference: nullable(text),
  counterparty: nullable(text),
  amount: text,
  balance: text,
}

/** Amounts in the major unit of the account's currency; `amount` and `balance` are debit positive. */
export type RegisterLine = RowOf<typeof lineColumns>

/** `postings` counts all of the account, listed or not. */
const countedColumns = { ...lineColumns, accountId: int4, postings: int4 }

export interface Register {
  /** The balance before the first listed line. */
  readonly opening: string
  readonly closing: string
  /** All postings; the list may hold only the last of them. */
  readonly postings: number
  readonly lines: ReadonlyArray<RegisterLine>
  /** The last month (`2024-12`) whose postings are archived, and only in the opening balance; null: all are here. */
  readonly archived: string | null
}

/** The books' accounts of a code, book by book: one for each currency, and for cash one for each account of the service. */
export const accountsOf = Effect.fn("Register.accounts")(function* (
  bookIds: ReadonlyArray<number>,
  code: string,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Register.accounts",
    ofTheService,
    (sql) => sql`
      select a.book_id as "bookId", a.account_id as "accountId", a.code, a.name, a.role, a.currency,
        a.partner_account_id as "partnerAccountId"
      from ledger.accounts a where a.book_id ${isIn(sql, bookIds)} and a.code = ${code}
      order by a.name collate "C", a.currency collate "C", a.account_id`,
  )
  const found = byBook(rows)
  return bookIds.flatMap((bookId) => toldApart(found.of({ bookId })))
})

/** The largest integer of the database: no account has as many postings. */
const most = 2 ** 31 - 1

/**
 * The last `limit` postings of each of the accounts of a book, of a month (`2026-10`) or of all, in one pass over the book: all accounts of
 * the service may have one code. One result for each account, in their order.
 */
export const registersOf = Effect.fn("Register.of")(function* (
  bookId: number,
  accountIds: ReadonlyArray<number>,
  { limit, period }: { readonly limit: number; readonly period: string | null },
) {
  const database = yield* Database
  const first = period === null ? null : `${period}-01`
  const archived = period === null ? yield* archivedThrough(bookId) : null
  const after = archived === null ? "-infinity" : `${archived}-01`
  const ends = yield* database.rows(
    "Register.ends",
    { accountId: int4, opening: text, closing: text },
    (sql) => sql`
      select b.account_id as "accountId", coalesce(sum(b.debit - b.credit) filter (
          where b.period < ${first}::text::date or b.period <= ${after}::text::date), 0)::text as opening,
        coalesce(sum(b.debit - b.credit) filter (
          where ${first}::text is null or b.period <= ${first}::text::date), 0)::text as closing
      from ledger.balances b where b.book_id = ${bookId} and b.account_id ${isIn(sql, accountIds)}
      group by b.account_id`,
  )
  const found = yield* database.rows(
    "Register.lines",
    countedColumns,
    (sql) => sql`
      with entry as (
        select n.entry_id, n.number from ledger.entry_numbers n
        where n.book_id = ${bookId} and n.period in (
          select b.period from ledger.balances b
          where b.book_id = ${bookId} and b.account_id ${isIn(sql, accountIds)}
            and (${first}::text is null or b.period = ${first}::text::date) and b.period > ${after}::text::date)),
      line as (
        select p.account_id, p.entry_id, e.number, p.amount, count(*) over (partition by p.account_id) as postings,
          sum(p.amount) over w as balance, row_number() over w as place
        from entry e
        join ledger.journal_entries j on j.book_id = ${bookId} and j.entry_id = e.entry_id
        join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
          and p.account_id ${isIn(sql, accountIds)}
        window w as (
          partition by p.account_id order by j.effective_date, e.number nulls last, j.entry_id, p.line_number))
      select l.account_id as "accountId", j.effective_date::text as date, l.number, to_char(j.period, 'YYYY-MM') as period,
        j.kind, j.description, j.resource_type as "resourceType", j.resource_id as "resourceId",
        j.external_reference as "externalReference", j.counterparty, l.amount::text as amount,
        l.balance::text as balance, l.postings::integer as postings
      from line l
      join ledger.journal_entries j on j.book_id = ${bookId} and j.entry_id = l.entry_id
      where l.place > l.postings - ${Math.min(limit, most)}::integer
      order by l.account_id, l.place`,
  )
  const endsOf = new Map(ends.map((end) => [end.accountId, end]))
  const rowsOf = Arr.groupBy(found, ({ accountId }) => String(accountId))
  return accountIds.map((accountId): Register => {
    const { closing, opening: before } = endsOf.get(accountId) ?? { closing: "0", opening: "0" }
    const rows = rowsOf[String(accountId)] ?? []
    const start = Money.fromTrusted(before)
    const lines = rows.map(({ accountId: _, postings: __, ...line }) => ({
      ...line,
      balance: Money.toText(Money.add(start, Money.fromTrusted(line.balance))),
    }))
    const [oldest] = lines
    const opening =
      oldest === undefined
        ? closing
        : Money.toText(Money.subtract(Money.fromTrusted(oldest.balance), Money.fromTrusted(oldest.amount)))
    return { opening, closing, postings: rows[0]?.postings ?? 0, lines, archived }
  })
})
