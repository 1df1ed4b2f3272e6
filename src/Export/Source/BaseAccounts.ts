/** The accounts of the base-currency journal: the book's own, each for itself, and those that only this journal has. */
import { Effect } from "effect"
import { parse } from "../../Common/MinorUnits.ts"
import { Database } from "../../Database.ts"
import type { Account } from "../../Format/Entry.ts"
import { accountsOf } from "../../Valuation/BaseAccount.ts"
import { baseScale } from "../../Valuation/Rates/Rate.ts"
import type { ValuationOptions } from "../../Valuation/ValuedBook.ts"
import type { BookAccounts, Sums } from "./Balances.ts"

interface OwnRow {
  readonly role: string
  readonly currency: string
  readonly code: string
  readonly name: string
}

const accountOf = ({ code, currency, name, role }: OwnRow): Account => ({
  ...{ code, name, role, currency },
  scale: baseScale,
  partnerAccountId: null,
})

/** The accounts that a book has in its base-currency journal only; none before it is valued for the first time. */
export const baseOnlyAccounts = Effect.fn("Export.baseOnlyAccounts")(function* (bookId: number) {
  const database = yield* Database
  const rows = yield* database.query(
    "Export.baseOnlyAccounts",
    (sql) => sql<Array<OwnRow>>`
      select role, currency, code, name from valuation.accounts where book_id = ${bookId}
      order by code collate "C", name collate "C", role collate "C"`,
  )
  return rows.map(accountOf)
})

/** The same as the chart calls them now, whether or not the book has been valued. */
export const chartAccounts = (
  book: string,
  { baseCurrency, chart }: Pick<ValuationOptions, "baseCurrency" | "chart">,
): ReadonlyArray<Account> => accountsOf(book, baseCurrency, chart).map(accountOf)

export interface BaseAccounts {
  readonly accounts: BookAccounts
  /** By ledger account, or by role. */
  readonly byKey: ReadonlyMap<string, Account>
  readonly nativeOf: (account: Account) => Account
}

const identity = ({ code, name, partnerAccountId, role }: Account): string =>
  JSON.stringify([code, name, role, partnerAccountId])

const compare = (a: Account, b: Account): number =>
  a.code !== b.code ? (a.code < b.code ? -1 : 1) : a.name === b.name ? 0 : a.name < b.name ? -1 : 1

/** Two accounts that only their currency tells apart keep apart: their names then end in it. */
export const baseAccounts = (
  native: BookAccounts,
  own: ReadonlyArray<Account>,
  baseCurrency: string,
): BaseAccounts => {
  const times = new Map<string, number>()
  for (const account of native.ordered) times.set(identity(account), (times.get(identity(account)) ?? 0) + 1)
  const made = new Map(
    native.ordered.map((account): [Account, Account] => {
      const name =
        (times.get(identity(account)) ?? 0) > 1 ? `${account.name}:${account.currency}` : account.name
      return [account, { ...account, name, currency: baseCurrency, scale: baseScale }]
    }),
  )
  const back = new Map([...made].map(([account, base]): [Account, Account] => [base, account]))
  const byKey = new Map(own.map((account) => [account.role, account]))
  for (const [id, account] of native.byId) {
    const base = made.get(account)
    if (base !== undefined) byKey.set(String(id), base)
  }
  return {
    accounts: { byId: new Map(), ordered: [...made.values(), ...own].sort(compare) },
    byKey,
    nativeOf: (account) => back.get(account) ?? account,
  }
}

/** Sums of rows by account; the same account may come more than once. */
export const baseSums = (
  rows: ReadonlyArray<{ readonly key: string; readonly amount: string }>,
  { byKey }: BaseAccounts,
): Sums => {
  const sums = new Map<Account, bigint>()
  for (const { amount, key } of rows) {
    const account = byKey.get(key)
    if (account === undefined) throw new Error(`the base-currency journal has no account ${key}`)
    sums.set(account, (sums.get(account) ?? 0n) + parse(amount, baseScale))
  }
  return sums
}
