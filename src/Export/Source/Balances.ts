/** Balances of a journal's accounts, in the caller's repeatable-read transaction. */
import { Effect } from "effect"
import { booksIn, byBook, isIn, ofBook } from "../../Book/ByBook.ts"
import { parse, TooPrecise } from "../../Common/MinorUnits.ts"
import type { Sql } from "../../Database/Client.ts"
import { int4, numeric, type RowOf, text } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import type { Account, OpenedAccount } from "../../Format/Entry.ts"
import { recordedBy } from "../../Ledger/AsOf.ts"
import { journalTable } from "../../Valuation/BaseJournal.ts"
import { type ExportError, exportError } from "../ExportError.ts"
import type { Selection } from "../Request/ExportScope.ts"
import { selected } from "../Request/Selected.ts"
import type { BookAccounts } from "./Accounts.ts"
import { type BookJournal, type JournalName, journalView } from "./JournalViews.ts"

/** The rows' amounts as exact numbers; one that its currency cannot hold ends the export. */
export const exactly = <A>(convert: () => A): Effect.Effect<A, ExportError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(convert())
    } catch (cause) {
      if (!(cause instanceof TooPrecise)) throw cause
      return exportError(
        "Disagrees",
        `A posting's amount cannot be printed exactly: ${cause.message}. Nothing was written.`,
      )
    }
  })

/** The account that a journal's line is on. */
export const accountOf = ({ byKey }: BookAccounts, key: string): Account => {
  const account = byKey.get(key)
  if (account === undefined) throw new Error(`account ${key} is not one of the journal's`)
  return account
}

export type Sums = ReadonlyMap<Account, bigint>

/** The accounts of several books, by `bookId`, and what each holds. */
export type AccountsByBook = ReadonlyMap<number, BookAccounts>
export type SumsByBook = ReadonlyMap<number, Sums>

const sumColumns = { bookId: int4, account: text, amount: numeric }

const sumsOf = (rows: ReadonlyArray<RowOf<typeof sumColumns>>, accounts: BookAccounts): Sums => {
  const sums = new Map<Account, bigint>()
  for (const { account: key, amount } of rows) {
    const account = accountOf(accounts, key)
    sums.set(account, (sums.get(account) ?? 0n) + parse(amount, account.scale))
  }
  return sums
}

const toSums = (rows: ReadonlyArray<RowOf<typeof sumColumns>>, books: AccountsByBook) =>
  exactly((): SumsByBook => {
    const found = byBook(rows)
    return new Map([...books].map(([bookId, accounts]) => [bookId, sumsOf(found.of({ bookId }), accounts)]))
  })

/**
 * What the accounts held at the end of the month before `day`: in their own currencies from the monthly turnovers, which know
 * entries that have no number yet (those are taken off again); in the base currency from what the last valued month left, in
 * cents (times 0.01, since a quotient would be rounded at 16 digits).
 */
const beforeMonth = (sql: Sql, bookIds: ReadonlyArray<number>, journal: JournalName) =>
  journal === "native"
    ? sql`
        select b.book_id, b.account_id::text as account, b.debit - b.credit as amount from ledger.balances b
        where b.book_id ${isIn(sql, bookIds)} and b.period < (select month from day)
        union all
        select u.book_id, p.account_id::text, -p.amount
        from ledger.unnumbered u
        join ledger.journal_entries e on e.book_id = u.book_id and e.entry_id = u.entry_id
        join ledger.postings p on p.book_id = e.book_id and p.entry_id = e.entry_id
        where u.book_id ${isIn(sql, bookIds)} and e.period < (select month from day)`
    : sql`
        select last.book_id, b.key as account, (b.value::numeric * 0.01)::numeric(1000, 2) as amount
        from ${booksIn(sql, bookIds)}
        cross join lateral (
          select m.book_id, m.state from ${journalTable(sql, journal, "months")} m
          where m.book_id = k.book_id and m.state is not null and m.period < (select month from day)
          order by m.period desc limit 1) last
        cross join lateral json_each_text(last.state -> 'balances') b`

/** Balances of the entries of several books that are dated before a day (`YYYY-MM-DD`, `infinity`, `-infinity`). */
export const balancesOfBooks = Effect.fn("Export.balancesOfBooks")(function* (
  journal: JournalName,
  day: string,
  accounts: AccountsByBook,
) {
  const bookIds = [...accounts.keys()]
  const database = yield* Database
  const rows = yield* database.rows(
    "Export.balancesBefore",
    sumColumns,
    (sql) => sql`
      with day as materialized (
        select ${day}::text::date as day, date_trunc('month', ${day}::text::date::timestamp)::date as month)
      select part.book_id as "bookId", part.account, sum(part.amount) as amount from (
        ${beforeMonth(sql, bookIds, journal)}
        union all
        select e.book_id, e.account, e.amount from ${journalView(sql, journal, "journal_lines")} e
        where e.book_id ${isIn(sql, bookIds)} and (select month < day from day) and e.period = (select month from day)
          and e.effective_date < (select day from day)
      ) part group by part.book_id, part.account`,
  )
  return yield* toSums(rows, accounts)
})

/** The same of one book. */
export const balancesBefore = ({ bookId, journal }: BookJournal, day: string, accounts: BookAccounts) =>
  Effect.map(balancesOfBooks(journal, day, new Map([[bookId, accounts]])), (sums) => ofBook(sums, bookId))

/**
 * The same for a book's entries that were recorded by a time. Adds up the entries themselves, since turnovers do not know when
 * they were recorded.
 */
export const balancesAsOf = Effect.fn("Export.balancesAsOf")(function* (
  bookId: number,
  day: string,
  accounts: BookAccounts,
  asOf: string,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Export.balancesAsOf",
    sumColumns,
    (sql) => sql`
      select ${bookId}::integer as "bookId", part.account, sum(part.amount) as amount from (
        select e.account, e.amount from ledger.journal_lines e
        where e.book_id = ${bookId} and e.effective_date < ${day}::text::date ${recordedBy(sql, asOf)}
        union all
        -- What is archived was all recorded by a time that can be asked about, and is of whole months before the days that can.
        select t.account, t.debit - t.credit from ledger.archived_turnover t
        where t.book_id = ${bookId} and t.basis = 'native' and t.period < ${day}::text::date) part
      group by part.account`,
  )
  return yield* exactly(() => sumsOf(rows, accounts))
})

/**
 * What the selected entries of several books add up to per account; accounts that are only touched by lines worth nothing are left
 * out, unless `worthless` asks for them.
 */
export const selectedSums = Effect.fn("Export.selectedSums")(function* (
  journal: JournalName,
  selection: Selection,
  accounts: AccountsByBook,
  worthless = false,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Export.selectedSums",
    sumColumns,
    (sql) => sql`
      select e.book_id as "bookId", e.account, sum(e.amount) as amount
      from ${journalView(sql, journal, "journal_lines")} e
      where ${selected(sql, isIn(sql, [...accounts.keys()]), selection)} and (${worthless}::boolean or e.amount <> 0)
      group by e.book_id, e.account`,
  )
  return yield* toSums(rows, accounts)
})

/** Every account with its balance. */
export const opened = ({ ordered }: BookAccounts, sums: Sums): ReadonlyArray<OpenedAccount> =>
  ordered.map((account) => ({ account, opening: sums.get(account) ?? 0n }))
