/**
 * The days of the service's accounts that its statement was read through completely, with what a bank's statement says of them:
 * by `occurred_at` in the book's time zone, whatever month the books date an entry to. In the caller's repeatable-read
 * transaction.
 */

import { Chunk, Effect, Stream } from "effect"
import { booksIn, byBook } from "../../Book/ByBook.ts"
import { parse } from "../../Common/MinorUnits.ts"
import type { Sql } from "../../Database/Client.ts"
import { bool, int2, int4, int8, nullable, numeric, type RowOf, text, uuid } from "../../Database/Columns.ts"
import type { DatabaseError } from "../../Database/DatabaseError.ts"
import { Database } from "../../Database.ts"
import type { BankDay, BankEntry } from "../../Format/BankStatement.ts"
import { journalNumber } from "../../Format/Entry.ts"
import type { Fragment } from "../../Reconcile/ReconcileScope.ts"
import type { Selection } from "../Request/ExportScope.ts"
import { selected } from "../Request/Selected.ts"

const bankColumns = {
  bookId: int4,
  account_id: uuid,
  currency: text,
  scale: int2,
  day: text,
  from_at: text,
  to_at: text,
  opening: numeric,
  closing: numeric,
  credit_entries: int8,
  credit_sum: numeric,
  debit_entries: int8,
  debit_sum: numeric,
  entry_id: uuid,
  amount: numeric,
  occurred_at: text,
  period: nullable(text),
  number: nullable(int4),
  description: nullable(text),
  resource_type: nullable(text),
  resource_id: nullable(text),
  external_reference: nullable(text),
  counterparty: nullable(text),
  reference: nullable(text),
  purpose: nullable(text),
  transaction_hash: nullable(text),
  /** The journal of the same export has the entry. */
  journalled: bool,
}
export type BankRow = RowOf<typeof bankColumns>

/** A book with the currencies that its bank statements leave out. */
export interface BankBook {
  readonly bookId: number
  readonly leaveOut: ReadonlyArray<string>
}

const signed = (sql: Sql) => sql`case s.type when 'CREDIT' then s.amount else -s.amount end`
const instant = (sql: Sql, at: ReturnType<Sql>) =>
  sql`to_char(${at} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`

/** Relation of `(book_id, currency)`. */
const withoutOf = (books: ReadonlyArray<BankBook>) =>
  books.flatMap(({ bookId, leaveOut }) => leaveOut.map((currency) => ({ book_id: bookId, currency })))

type Without = ReturnType<typeof withoutOf>

/** The accounts of a book whose statement was read, with the balance before their first entry; `until`: the first day that is not complete. */
const accountsOfBook = (sql: Sql, book: Fragment, without: Without) => sql`
  select a.book_id, a.account_id, a.currency, c.scale, a.entries, l.time_zone, f.before,
    least(ledger.day_of(v.began_at, l.time_zone), h.day) as until
  from mirror.accounts a
  join ledger.locks l on l.book_id = a.book_id
  join ledger.currencies c on c.code = a.currency
  join reconcile.statement_standing v on v.book_id = a.book_id and v.account_id = a.account_id
  cross join lateral (
    select s.balance_after - ${signed(sql)} as before from mirror.statement_entries s
    where s.book_id = a.book_id and s.account_id = a.account_id and s.position <= a.entries
    order by s.position limit 1) f
  left join lateral (
    select ledger.day_of(min(s.occurred_at), l.time_zone) as day from mirror.statement_entries s
    where s.book_id = a.book_id and s.account_id = a.account_id and s.position > a.entries) h on true
  where a.book_id = ${book} and v.began_at is not null and not exists (
    select 1 from json_to_recordset(${JSON.stringify(without)}::text::json) as l (book_id integer, currency text)
    where l.book_id = ${book} and l.currency = a.currency)`

/**
 * A day is complete once a read of the account's whole statement began, by the service's clock, after it was over, and nothing
 * of it is held back. A balance is the one before the account's first entry plus all entries of the days up to there, so that
 * each day leads to the next even if the service posted entries out of order. By account, day and place.
 */
const statementsOfBook = (sql: Sql, book: Fragment, selection: Selection, without: Without) => sql`
  with account as materialized (${accountsOfBook(sql, book, without)}),
  days as materialized (
    select d.account_id, d.day, d.credit_entries, d.credit_sum, d.debit_entries, d.debit_sum,
      d.before + coalesce(sum(d.credit_sum - d.debit_sum) over (w rows between unbounded preceding and 1 preceding), 0) as opening,
      d.before + sum(d.credit_sum - d.debit_sum) over w as closing
    from (
      select a.account_id, a.before, ledger.day_of(s.occurred_at, a.time_zone) as day,
        count(*) filter (where s.type = 'CREDIT') as credit_entries,
        count(*) filter (where s.type <> 'CREDIT') as debit_entries,
        coalesce(sum(s.amount) filter (where s.type = 'CREDIT'), 0) as credit_sum,
        coalesce(sum(s.amount) filter (where s.type <> 'CREDIT'), 0) as debit_sum
      from account a
      join mirror.statement_entries s on s.book_id = ${book} and s.account_id = a.account_id
        and s.position <= a.entries and s.amount <> 0
      group by a.account_id, a.before, ledger.day_of(s.occurred_at, a.time_zone)) d
    window w as (partition by d.account_id order by d.day))
  select a.book_id as "bookId", a.account_id, a.currency, a.scale, d.day::text as day,
    ${instant(sql, sql`ledger.begin_of_day(d.day, a.time_zone)`)} as from_at,
    ${instant(sql, sql`ledger.begin_of_day(d.day + 1, a.time_zone)`)} as to_at,
    d.opening, d.closing, d.credit_entries, d.credit_sum, d.debit_entries, d.debit_sum,
    s.entry_id, ${signed(sql)} as amount, ${instant(sql, sql`s.occurred_at`)} as occurred_at,
    to_char(e.period, 'YYYY-MM') as period, e.number, e.description,
    coalesce(e.resource_type, s.related_type) as resource_type, coalesce(e.resource_id, s.related_id::text) as resource_id,
    e.external_reference, e.counterparty,
    case when r.form is distinct from 'flat' then r.reference end as reference,
    case when r.form = 'flat' then r.reference end as purpose, r.transaction_hash,
    coalesce(${selected(sql, sql`= ${book}`, selection)}, false) as journalled
  from account a
  join days d on d.account_id = a.account_id and d.day < a.until
    and d.day between ${selection.from ?? "-infinity"}::text::date and ${selection.to ?? "infinity"}::text::date
  join mirror.statement_entries s on s.book_id = ${book} and s.account_id = a.account_id and s.position <= a.entries
    and s.amount <> 0 and ledger.day_of(s.occurred_at, a.time_zone) = d.day
  left join ledger.journal e on e.book_id = ${book} and e.source_type = 'statement_entry' and e.source_id = s.entry_id
    and e.sequence = 0 and e.partner_account_id = s.account_id and e.position = s.position
  left join lateral (
    select p.form, p.reference, p.transaction_hash from mirror.resources p
    where p.book_id = e.book_id and p.resource_id = e.resource_id::uuid and p.resource_type = e.resource_type
    limit 1) r on true
  order by a.currency collate "C", a.account_id, d.day, s.position`

/** Reads each book by itself: one plan for all of them would rely on bad estimates of their sizes. */
const bankStatements = (sql: Sql, books: ReadonlyArray<BankBook>, selection: Selection) => {
  const without = withoutOf(books)
  const [first, ...more] = books
  return first !== undefined && more.length === 0
    ? statementsOfBook(sql, sql`${first.bookId}::integer`, selection, without)
    : sql`
      select own.* from ${booksIn(
        sql,
        books.map(({ bookId }) => bookId),
      )}
      cross join lateral (${statementsOfBook(sql, sql`k.book_id`, selection, without)}) own`
}

/** Of one book, in the caller's repeatable-read transaction. */
export const streamBankRows = (
  book: BankBook,
  selection: Selection,
): Stream.Stream<ReadonlyArray<BankRow>, DatabaseError, Database> =>
  Stream.unwrap(
    Effect.map(Database, (database) =>
      database.rowStream("Export.bankStatements", bankColumns, (sql) =>
        bankStatements(sql, [book], selection),
      ),
    ),
  ).pipe(Stream.chunks, Stream.map(Chunk.toReadonlyArray))

/** Of small books, by book. */
export const bankRowsOfBooks = Effect.fn("Export.bankRowsOfBooks")(function* (
  books: ReadonlyArray<BankBook>,
  selection: Selection,
) {
  const database = yield* Database
  return byBook(
    yield* database.rows("Export.bankRowsOfBooks", bankColumns, (sql) =>
      bankStatements(sql, books, selection),
    ),
  )
})

/** Those of the books of which a bank statement would say anything: an account has a complete day of the selection with entries. */
export const booksWithBankDays = Effect.fn("Export.booksWithBankDays")(function* (
  books: ReadonlyArray<BankBook>,
  { from, to }: Pick<Selection, "from" | "to">,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Export.booksWithBankDays",
    { bookId: int4 },
    (sql) => sql`
      select k.book_id as "bookId"
      from ${booksIn(
        sql,
        books.map(({ bookId }) => bookId),
      )}
      where exists (
        select 1 from (${accountsOfBook(sql, sql`k.book_id`, withoutOf(books))}) a
        join mirror.statement_entries s on s.book_id = a.book_id and s.account_id = a.account_id
          and s.position <= a.entries and s.amount <> 0
          and s.occurred_at >= ledger.begin_of_day(${from ?? "-infinity"}::text::date, a.time_zone)
          and s.occurred_at < ledger.begin_of_day(least(a.until, ${to ?? "infinity"}::text::date + 1), a.time_zone)
        offset 0)`,
  )
  return new Set(rows.map(({ bookId }) => bookId))
})

export const dayOf = (row: BankRow): BankDay => ({
  day: row.day,
  from: row.from_at,
  to: row.to_at,
  opening: parse(row.opening, row.scale),
  closing: parse(row.closing, row.scale),
  credits: { entries: Number(row.credit_entries), sum: parse(row.credit_sum, row.scale) },
  debits: { entries: Number(row.debit_entries), sum: parse(row.debit_sum, row.scale) },
})

export const entryOf = (book: string, row: BankRow): BankEntry => ({
  id: row.entry_id,
  minor: parse(row.amount, row.scale),
  occurredAt: row.occurred_at,
  number: row.period === null || row.number === null ? null : journalNumber(book, row.period, row.number),
  description: row.description,
  resourceType: row.resource_type,
  resourceId: row.resource_id,
  externalReference: row.external_reference,
  counterparty: row.counterparty,
  reference: row.reference,
  purpose: row.purpose,
  transactionHash: row.transaction_hash,
})
