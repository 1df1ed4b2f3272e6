/** `trial-balance.csv`: a row per account. Opening and closing are signed, debit positive. */
import { print } from "../Common/MinorUnits.ts"
import { type AccountBalance, total } from "./ReportBalances.ts"
import type { Row } from "./Sheet.ts"

export const trialBalanceSheet = {
  name: "trial-balance.csv",
  columns: {
    account_code: "text",
    account_name: "text",
    account_role: "text",
    currency: "text",
    opening: "figure",
    debit: "figure",
    credit: "figure",
    closing: "figure",
  },
} as const

export const trialBalanceRows = (
  balances: ReadonlyArray<AccountBalance>,
): ReadonlyArray<Row<typeof trialBalanceSheet.columns>> =>
  balances.map(({ account, closing, credit, debit, opening }) => ({
    account_code: account.code,
    account_name: account.name,
    account_role: account.role,
    currency: account.currency,
    opening: print(opening, account.scale),
    debit: print(debit, account.scale),
    credit: print(credit, account.scale),
    closing: print(closing, account.scale),
  }))

export interface CurrencyTotal {
  readonly currency: string
  readonly scale: number
  readonly opening: bigint
  readonly debit: bigint
  readonly credit: bigint
  readonly closing: bigint
}

/** Per currency: debits equal credits, and openings and closings add up to nothing. */
export const currencyTotals = (balances: ReadonlyArray<AccountBalance>): ReadonlyArray<CurrencyTotal> =>
  [...new Map(balances.map(({ account }) => [account.currency, account.scale]))]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, scale]) => {
      const own = balances.filter(({ account }) => account.currency === currency)
      return {
        currency,
        scale,
        opening: total(own.map(({ opening }) => opening)),
        debit: total(own.map(({ debit }) => debit)),
        credit: total(own.map(({ credit }) => credit)),
        closing: total(own.map(({ closing }) => closing)),
      }
    })
