/** Sums per account of a book: what the oracle posts to. Debit is positive. */
import type { ExpectedBalance } from "../Facts.ts"
import { textOf } from "./Decimal.ts"

export interface Account {
  readonly role: string
  readonly currency: string
  readonly accountId: string | null
  readonly code: string | null
}

export const account = (role: string, currency: string, accountId: string | null = null): Account => ({
  role,
  currency,
  accountId,
  code: null,
})

export const keyOf = ({ role, currency, accountId, code }: Account): string =>
  [role, currency, accountId ?? "", code ?? ""].join("|")

/** Orders texts by their characters, whatever the machine's language. */
export const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

export class Balances {
  private readonly sums = new Map<string, { readonly account: Account; amount: bigint }>()

  add(to: Account, amount: bigint): void {
    const key = keyOf(to)
    const known = this.sums.get(key)
    if (known === undefined) this.sums.set(key, { account: to, amount })
    else known.amount += amount
  }

  expected(): ReadonlyArray<ExpectedBalance> {
    return [...this.sums]
      .filter(([, { amount }]) => amount !== 0n)
      .sort(([a], [b]) => byText(a, b))
      .map(
        ([
          ,
          {
            account: { role, currency, accountId, code },
            amount,
          },
        ]) => ({
          role,
          currency,
          accountId,
          code,
          balance: textOf(amount),
        }),
      )
  }
}
