/** A book's accounts and their balances, in the caller's repeatable-read transaction. */
import { Effect } from "effect"
import { parse, TooPrecise } from "../../Common/MinorUnits.ts"
import type { Sql } from "../../Database/Client.ts"
import { Database } from "../../Database.ts"
import type { Account, OpenedAccount } from "../../Format/Entry.ts"
import { recordedBy } from "../../Ledger/AsOf.ts"
import { type ExportError, exportError } from "../ExportError.ts"
import type { Selection } from "../Request/Scope.ts"
import { selected } from "../Request/Selected.ts"

/** The accounts of a book by their ledger id; several ids may lead to one account. */
export interface BookAccounts {
  readonly byId: ReadonlyMap<number, Account>
  readonly ordered: ReadonlyArray<Account>
}

interface AccountRow {
  readonly account_id: number
  readonly code: string
  readonly name: string
  readonly role: string
  readonly currency: string
  readonly scale: number
  readonly partner_account_id: string | null
}

/** An account that is younger than its first entry by their transactions' times belongs to that entry all the same. */
const openedBy = (sql: Sql, asOf: string | null) =>
  asOf === null
    ? sql``
    : sql`and (a.created_at <= ${asOf}::text::timestamptz or exists (
        select 1 from ledger.postings p
        join ledger.journal_entries e on e.book_id = p.book_id and e.entry_id = p.entry_id
        where p.book_id = a.book_id and p.account_id = a.account_id ${recordedBy(sql, asOf)}))`

/** Ids depend on the order in which accounts were made; the order here does not. `asOf`: those that were there by then. */
export const readAccounts = Effect.fn("Export.readAccounts")(function* (
  bookId: number,
  asOf: string | null = null,
) {
  const database = yield* Database
  const rows = yield* database.query(
    "Export.readAccounts",
    (sql) => sql<Array<AccountRow>>`
      select a.account_id, a.code, a.name, a.role, a.currency, c.scale, a.partner_account_id
      from ledger.accounts a join ledger.currencies c on c.code = a.currency
      where a.book_id = ${bookId} ${openedBy(sql, asOf)}
      order by a.code collate "C", a.name collate "C", a.currency collate "C", a.role collate "C",
        a.partner_account_id, a.rule_code collate "C"`,
  )
  const byKey = new Map<string, Account>()
  const byId = new Map<number, Account>()
  for (const row of rows) {
    const { code, name, role, currency, scale, partner_account_id: partnerAccountId } = row
    const key = JSON.stringify([code, name, role, currency, partnerAccountId])
    const account = byKey.get(key) ?? { code, name, role, currency, scale, partnerAccountId }
    byKey.set(key, account)
    byId.set(row.account_id, account)
  }
  return { byId, ordered: [...byKey.values()] } satisfies BookAccounts
})

/** What the rows say in exact amounts; one that its currency cannot hold ends the export. */
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

export type Sums = ReadonlyMap<Account, bigint>

const toSums = (
  rows: ReadonlyArray<{ account_id: number; amount: string }>,
  { byId }: BookAccounts,
): Sums => {
  const sums = new Map<Account, bigint>()
  for (const { account_id, amount } of rows) {
    const account = byId.get(account_id)
    if (account === undefined) throw new Error(`ledger account ${account_id} is not one of the book's`)
    sums.set(account, (sums.get(account) ?? 0n) + parse(amount, account.scale))
  }
  return sums
}

/**
 * Balances of the numbered entries dated before a day (`YYYY-MM-DD`, `infinity`, `-infinity`), from the monthly turnovers
 * and, within a month, its entries. The turnovers know entries that have no number yet: those are taken off again.
 */
export const balancesBefore = Effect.fn("Export.balancesBefore")(function* (
  bookId: number,
  day: string,
  accounts: BookAccounts,
) {
  const database = yield* Database
  const rows = yield* database.query(
    "Export.balancesBefore",
    (sql) => sql<Array<{ account_id: number; amount: string }>>`
      with day as materialized (
        select ${day}::text::date as day, date_trunc('month', ${day}::text::date::timestamp)::date as month)
      select account_id, sum(amount)::text as amount from (
        select account_id, debit - credit as amount from ledger.balances
        where book_id = ${bookId} and period < (select month from day)
        union all
        select p.account_id, -p.amount
        from ledger.unnumbered u
        join ledger.journal_entries e on e.book_id = u.book_id and e.entry_id = u.entry_id
        join ledger.postings p on p.book_id = e.book_id and p.entry_id = e.entry_id
        where u.book_id = ${bookId} and e.period < (select month from day)
        union all
        select p.account_id, p.amount
        from ledger.journal_numbers n
        join ledger.journal_entries e on e.book_id = n.book_id and e.entry_id = n.entry_id
        join ledger.postings p on p.book_id = e.book_id and p.entry_id = e.entry_id
        where n.book_id = ${bookId} and (select month < day from day) and n.period = (select month from day)
          and e.effective_date < (select day from day)
      ) part group by account_id`,
  )
  return yield* exactly(() => toSums(rows, accounts))
})

/** The same of the entries that were recorded by then, from all of them: turnovers do not know when. */
export const balancesAsOf = Effect.fn("Export.balancesAsOf")(function* (
  bookId: number,
  day: string,
  accounts: BookAccounts,
  asOf: string,
) {
  const database = yield* Database
  const rows = yield* database.query(
    "Export.balancesAsOf",
    (sql) => sql<Array<{ account_id: number; amount: string }>>`
      select p.account_id, sum(p.amount)::text as amount
      from ledger.journal_numbers n
      join ledger.journal_entries e on e.book_id = n.book_id and e.entry_id = n.entry_id
      join ledger.postings p on p.book_id = e.book_id and p.entry_id = e.entry_id
      where n.book_id = ${bookId} and e.effective_date < ${day}::text::date ${recordedBy(sql, asOf)}
      group by p.account_id`,
  )
  return yield* exactly(() => toSums(rows, accounts))
})

/** What the selected entries add up to per account. */
export const selectedSums = Effect.fn("Export.selectedSums")(function* (
  bookId: number,
  selection: Selection,
  accounts: BookAccounts,
) {
  const database = yield* Database
  const rows = yield* database.query(
    "Export.selectedSums",
    (sql) => sql<Array<{ account_id: number; amount: string }>>`
      select p.account_id, sum(p.amount)::text as amount
      from ledger.journal_numbers n
      join ledger.journal_entries e on e.book_id = n.book_id and e.entry_id = n.entry_id
      join ledger.postings p on p.book_id = n.book_id and p.entry_id = n.entry_id
      where ${selected(sql, bookId, selection)}
      group by p.account_id`,
  )
  return yield* exactly(() => toSums(rows, accounts))
})

/** Every account with its balance. */
export const opened = ({ ordered }: BookAccounts, sums: Sums): ReadonlyArray<OpenedAccount> =>
  ordered.map((account) => ({ account, opening: sums.get(account) ?? 0n }))
