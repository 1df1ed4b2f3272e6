import type { Identifiers } from "./Identifier.ts"
import { type Currency, currencies, networkOf, railOf } from "./SandboxCurrency.ts"
import { NumberColumn } from "./TypedColumns.ts"

/** An account of the organization, with the numbers of its statement entries in posting order. */
export interface Account {
  readonly index: number
  readonly id: string
  readonly currency: Currency
  readonly rail: string
  readonly network: string
  /** The smallest step of its amounts in minor units: some digital accounts move with six decimals, some with eight. */
  readonly quantum: bigint
  /** The balance before the first entry; until then the account shows zero. */
  readonly opening: bigint
  /** Never moves. */
  readonly dormant: boolean
  readonly entries: NumberColumn
  balance: bigint
  status: "ACTIVE" | "SUSPENDED" | "CLOSED"
  /** Takes no new movements any more. */
  retiring: boolean
  /** Movements that are not yet finished. */
  outstanding: number
}

/** What the account can spend, in minor units. */
export const available = (account: Account): bigint =>
  account.entries.size === 0 ? account.opening : account.balance

/** A conversion pair: the two accounts between which it converts, in one direction. */
export interface Pair {
  readonly index: number
  readonly sell: Account
  readonly buy: Account
  /** The least sell amount in minor units. */
  readonly minimum: bigint
}

const openingOf = (ids: Identifiers, index: number, currency: Currency): bigint => {
  if (index % 5 !== 1 && index % 5 !== 3) return 0n
  const units = BigInt(2000 + (ids.bits("account", index, 1) % 250_000))
  const odd = BigInt(ids.bits("account", index, 2) % 100)
  return units * 10n ** BigInt(currency.smallest) + odd * (currency.scale === 8 ? 10_000n : 1n)
}

/**
 * Makes the accounts: all currencies first, then all of them again with other payment rails, of which the first `skip`
 * are left out.
 */
export const makeAccounts = (ids: Identifiers, count: number, skip: number): ReadonlyArray<Account> =>
  Array.from({ length: count }, (_, index) => {
    const currency = currencies[index % currencies.length] ?? currencies[0]
    const group = Math.floor(index / currencies.length)
    const fine = currency.digital && (group + (currency.code === "USDC" ? 1 : 0)) % 2 === 1
    return {
      index,
      id: ids.of("account", index),
      currency,
      rail: railOf(currency, group + skip),
      network: networkOf(group + skip),
      quantum: currency.digital && !fine ? 100n : 1n,
      opening: openingOf(ids, index, currency),
      dormant: index % 36 === 10,
      entries: NumberColumn.u32(),
      balance: 0n,
      status: "ACTIVE",
      retiring: false,
      outstanding: 0,
    }
  })

/** Makes the pairs, both directions of each: a fiat account and the digital accounts of its group (else of the first). */
export const makePairs = (accounts: ReadonlyArray<Account>): ReadonlyArray<Pair> => {
  const pairs: Array<Pair> = []
  const add = (sell: Account, buy: Account) =>
    pairs.push({ index: pairs.length, sell, buy, minimum: 10n ** BigInt(sell.currency.smallest + 1) })
  for (const fiat of accounts) {
    if (fiat.currency.digital) continue
    const start = fiat.index - (fiat.index % currencies.length)
    for (const [offset, currency] of currencies.entries()) {
      if (!currency.digital) continue
      const digital = accounts[start + offset] ?? accounts[offset]
      if (digital === undefined) continue
      add(fiat, digital)
      add(digital, fiat)
    }
  }
  return pairs
}

/** Which accounts are suspended or closed in the course of time, and after how many of 100 entries. */
export const retirements = (
  accounts: ReadonlyArray<Account>,
): ReadonlyArray<{ readonly account: Account; readonly to: "SUSPENDED" | "CLOSED"; readonly at: number }> =>
  accounts
    .filter(({ index }) => index % 36 === 8 || index % 36 === 11)
    .map((account) => ({
      account,
      to: account.index % 36 === 8 ? ("SUSPENDED" as const) : ("CLOSED" as const),
      at: 45 + (account.index % 40),
    }))
    .sort((a, b) => a.at - b.at)
