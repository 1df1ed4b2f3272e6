/** The names of a book's accounts in plain-text journals. */
import type { Account, OpenedAccount } from "../Entry.ts"

/** The top level for an account without a usable one. */
export const rootOf = (role: string): string => {
  if (role === "loan_payable" || role === "interest_payable" || role === "deferred_interest")
    return "Liabilities"
  if (role === "opening_balance" || role === "trading") return "Equity"
  if (role === "interest_income" || role === "fx_realized" || role === "fx_unrealized") return "Income"
  return role === "fees" || role === "interest_expense" || role === "rounding" ? "Expenses" : "Assets"
}

export const roots: ReadonlySet<string> = new Set(["Assets", "Liabilities", "Equity", "Income", "Expenses"])

/** Rules of one format for account names. */
export interface Naming {
  /** The name as the format can hold it. */
  readonly clean: (account: Account) => string
  /** Accounts that share a space must differ in name: all of a book, or those of one currency. */
  readonly space: (account: Account) => string
  /** A text as one more component of a name. */
  readonly component: (text: string) => string
}

/** Names that tell all accounts of a book apart: the code is appended where two would be the same, then a count. */
export const nameAccounts = (
  accounts: ReadonlyArray<OpenedAccount>,
  { clean, space, component }: Naming,
): ReadonlyMap<Account, string> => {
  const count = new Map<string, number>()
  const keyOf = (account: Account, name: string): string => `${space(account)}\n${name}`
  for (const { account } of accounts) {
    const key = keyOf(account, clean(account))
    count.set(key, (count.get(key) ?? 0) + 1)
  }
  const taken = new Set([...count].filter(([, times]) => times === 1).map(([key]) => key))
  const names = new Map<Account, string>()
  for (const { account } of accounts) {
    const name = clean(account)
    if (count.get(keyOf(account, name)) === 1) {
      names.set(account, name)
      continue
    }
    const longer = `${name}:${component(account.code)}`
    let free = longer
    for (let nth = 2; taken.has(keyOf(account, free)); nth++) free = `${longer}-${nth}`
    taken.add(keyOf(account, free))
    names.set(account, free)
  }
  return names
}

export const nameOf = (names: ReadonlyMap<Account, string>, account: Account): string => {
  const name = names.get(account)
  if (name === undefined)
    throw new Error(`account ${account.code} (${account.currency}) is not one of the book's`)
  return name
}
