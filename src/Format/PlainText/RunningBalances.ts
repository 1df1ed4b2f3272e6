/** What the plain-text journals have in common: running balances, and the day of the opening. */
import { shiftDate } from "../../Common/Time.ts"
import type { Account, OpenedAccount } from "../Entry.ts"

/** Balances after each line, in the order of the file, starting from the opening balances. Smallest units. */
export const runningBalances = (accounts: ReadonlyArray<OpenedAccount>) => {
  const balances = new Map<Account, bigint>(accounts.map(({ account, opening }) => [account, opening]))
  return {
    of: (account: Account): bigint => balances.get(account) ?? 0n,
    add: (account: Account, minor: bigint): bigint => {
      const after = (balances.get(account) ?? 0n) + minor
      balances.set(account, after)
      return after
    },
  }
}

/**
 * The date of the opening transaction: the day before the scope, or before the first entry where the scope has no first
 * day. Undefined where there is nothing to date.
 */
export const openingDate = (from: string | null, firstDate: string | undefined): string | undefined => {
  const first = from ?? firstDate
  return first === undefined ? undefined : shiftDate(first, -1)
}
