/** The accounts of a journal, in the caller's repeatable-read transaction. */
import { Effect } from "effect"
import { byBook, isIn, ofBook } from "../../Book/ByBook.ts"
import type { Sql } from "../../Database/Client.ts"
import { int2, int4, nullable, type RowOf, text, uuid } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import type { Account } from "../../Format/Entry.ts"
import { recordedBy } from "../../Ledger/AsOf.ts"
import { accountsOf } from "../../Valuation/BaseAccount.ts"
import { baseScale } from "../../Valuation/Rates/Rate.ts"
import type { ValuationOptions } from "../../Valuation/ValuedBook.ts"

/** The accounts by the key that the journal's lines have (`account` of `ledger.journal_lines`); several may lead to one. */
export interface BookAccounts {
  readonly byKey: ReadonlyMap<string, Account>
  readonly ordered: ReadonlyArray<Account>
}

/** The accounts of a journal, and of each the account of the books behind it: what an account mapping knows. */
export interface JournalAccounts extends BookAccounts {
  readonly nativeOf: (account: Account) => Account
}

const accountColumns = {
  bookId: int4,
  account_id: int4,
  code: text,
  name: text,
  role: text,
  currency: text,
  scale: int2,
  partner_account_id: nullable(uuid),
}

/** An account may have been made by a later transaction than its first entry's time shows; it still belongs to that entry. */
const openedBy = (sql: Sql, asOf: string | null) =>
  asOf === null
    ? sql``
    : sql`and (a.created_at <= ${asOf}::text::timestamptz or exists (
        select 1 from ledger.postings p
        join ledger.journal_entries e on e.book_id = p.book_id and e.entry_id = p.entry_id
        where p.book_id = a.book_id and p.account_id = a.account_id ${recordedBy(sql, asOf)})
      or exists (
        select 1 from ledger.archived_turnover t
        where t.book_id = a.book_id and t.basis = 'native' and t.account = a.account_id::text))`

const ownAccounts = (rows: ReadonlyArray<RowOf<typeof accountColumns>>): JournalAccounts => {
  const byContent = new Map<string, Account>()
  const byKey = new Map<string, Account>()
  for (const row of rows) {
    const { code, name, role, currency, scale, partner_account_id: partnerAccountId } = row
    const content = JSON.stringify([code, name, role, currency, partnerAccountId])
    const account = byContent.get(content) ?? { code, name, role, currency, scale, partnerAccountId }
    byContent.set(content, account)
    byKey.set(String(row.account_id), account)
  }
  return { byKey, ordered: [...byContent.values()], nativeOf: (account) => account }
}

/**
 * By book. Ids depend on the order in which accounts were made; the order here does not. `asOf`: those that were there by
 * then.
 */
export const accountsOfBooks = Effect.fn("Export.accountsOfBooks")(function* (
  bookIds: ReadonlyArray<number>,
  asOf: string | null = null,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Export.readAccounts",
    accountColumns,
    (sql) => sql`
      select a.book_id as "bookId", a.account_id, a.code, a.name, a.role, a.currency, c.scale, a.partner_account_id
      from ledger.accounts a join ledger.currencies c on c.code = a.currency
      where a.book_id ${isIn(sql, bookIds)} ${openedBy(sql, asOf)}
      order by a.code collate "C", a.name collate "C", a.currency collate "C", a.role collate "C",
        a.partner_account_id, a.rule_code collate "C"`,
  )
  const found = byBook(rows)
  return new Map(bookIds.map((bookId) => [bookId, ownAccounts(found.of({ bookId }))]))
})

/** Of one book. */
export const readAccounts = (bookId: number, asOf: string | null = null) =>
  Effect.map(accountsOfBooks([bookId], asOf), (accounts) => ofBook(accounts, bookId))

const ofBaseAlone = ({
  code,
  currency,
  name,
  role,
}: Pick<Account, "code" | "currency" | "name" | "role">): Account => ({
  ...{ code, name, role, currency },
  scale: baseScale,
  partnerAccountId: null,
})

const baseOnlyColumns = { bookId: int4, code: text, name: text, role: text, currency: text }

/** By book: the accounts that it has in its base-currency journal only; none before it is valued for the first time. */
export const baseOnlyOfBooks = Effect.fn("Export.baseOnlyOfBooks")(function* (
  bookIds: ReadonlyArray<number>,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Export.baseOnlyAccounts",
    baseOnlyColumns,
    (sql) => sql`
      select a.book_id as "bookId", a.code, a.name, a.role, a.currency from valuation.accounts a
      where a.book_id ${isIn(sql, bookIds)} order by a.code collate "C", a.name collate "C", a.role collate "C"`,
  )
  const found = byBook(rows)
  return new Map(bookIds.map((bookId) => [bookId, found.of({ bookId }).map(ofBaseAlone)]))
})

/** Of one book. */
export const baseOnlyAccounts = (bookId: number) =>
  Effect.map(baseOnlyOfBooks([bookId]), (accounts) => ofBook(accounts, bookId))

/** The same as the chart calls them now, whether or not the book has been valued. */
export const chartAccounts = (
  book: string,
  { baseCurrency, chart }: Pick<ValuationOptions, "baseCurrency" | "chart">,
): ReadonlyArray<Account> => accountsOf(book, baseCurrency, chart).map(ofBaseAlone)

const withoutCurrency = ({ code, name, partnerAccountId, role }: Account): string =>
  JSON.stringify([code, name, role, partnerAccountId])

const compare = (a: Account, b: Account): number =>
  a.code !== b.code ? (a.code < b.code ? -1 : 1) : a.name === b.name ? 0 : a.name < b.name ? -1 : 1

/**
 * The accounts of the base-currency journal: the book's own, each for itself, and those that only this journal has. Two that
 * only their currency tells apart keep apart: their names then end in it.
 */
export const inBase = (
  native: BookAccounts,
  baseOnly: ReadonlyArray<Account>,
  baseCurrency: string,
): JournalAccounts => {
  const times = new Map<string, number>()
  for (const account of native.ordered) {
    times.set(withoutCurrency(account), (times.get(withoutCurrency(account)) ?? 0) + 1)
  }
  const made = new Map(
    native.ordered.map((account): [Account, Account] => {
      const name =
        (times.get(withoutCurrency(account)) ?? 0) > 1 ? `${account.name}:${account.currency}` : account.name
      return [account, { ...account, name, currency: baseCurrency, scale: baseScale }]
    }),
  )
  const back = new Map([...made].map(([account, base]): [Account, Account] => [base, account]))
  const byKey = new Map(baseOnly.map((account) => [account.role, account]))
  for (const [key, account] of native.byKey) byKey.set(key, made.get(account) ?? account)
  return {
    byKey,
    ordered: [...made.values(), ...baseOnly].sort(compare),
    nativeOf: (account) => back.get(account) ?? account,
  }
}
