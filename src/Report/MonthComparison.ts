/** `comparison.csv`: what moved on every account in the month, beside the month before. Signed, debit positive. */
import { print } from "../Common/MinorUnits.ts"
import type { Sums } from "../Export/Source/Balances.ts"
import type { AccountBalance } from "./ReportBalances.ts"
import type { Row } from "./Sheet.ts"

export const comparisonSheet = {
  name: "comparison.csv",
  columns: {
    account_code: "text",
    account_name: "text",
    account_role: "text",
    currency: "text",
    month_before: "figure",
    month: "figure",
    change: "figure",
    closing_before: "figure",
    closing: "figure",
  },
} as const

export type ComparisonRow = Row<typeof comparisonSheet.columns>

export interface Compared {
  readonly balance: AccountBalance
  /** What moved, net. */
  readonly before: bigint
  readonly now: bigint
}

/** `openings`: the balances before the month before. */
export const compared = (balances: ReadonlyArray<AccountBalance>, openings: Sums): ReadonlyArray<Compared> =>
  balances.map((balance) => ({
    balance,
    before: balance.opening - (openings.get(balance.account) ?? 0n),
    now: balance.closing - balance.opening,
  }))

export const comparisonRows = (rows: ReadonlyArray<Compared>): ReadonlyArray<ComparisonRow> =>
  rows.map(({ balance: { account, closing, opening }, before, now }) => ({
    account_code: account.code,
    account_name: account.name,
    account_role: account.role,
    currency: account.currency,
    month_before: print(before, account.scale),
    month: print(now, account.scale),
    change: print(now - before, account.scale),
    closing_before: print(opening, account.scale),
    closing: print(closing, account.scale),
  }))
