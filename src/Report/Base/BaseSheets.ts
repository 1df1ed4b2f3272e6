/** The base currency's sheets: `base-trial-balance.csv`, `base-rates.csv`, `base-results.csv`. */
import { print } from "../../Common/MinorUnits.ts"
import { baseScale } from "../../Valuation/Rates/Rate.ts"
import type { Row } from "../Sheet.ts"
import { trialBalanceSheet } from "../TrialBalanceSheet.ts"
import type { BaseFigures } from "./BaseFigures.ts"

/** As `trial-balance.csv`; the currency is the base currency. */
export const baseTrialBalanceSheet = {
  name: "base-trial-balance.csv",
  columns: trialBalanceSheet.columns,
} as const

/** The use of a rate: for lines of entries, or for the revaluation of an account at the month's end. */
export const baseRatesSheet = {
  name: "base-rates.csv",
  columns: {
    used_for: "text",
    currency: "text",
    date: "text",
    rate: "text",
    source: "text",
    lines: "figure",
    account_name: "text",
    revaluation: "text",
    amount: "figure",
  },
} as const

export const baseResultsSheet = {
  name: "base-results.csv",
  columns: { currency: "text", base_currency: "text", realized: "figure", unrealized: "figure" },
} as const

export const baseTrialBalanceRows = ({
  balances,
}: BaseFigures): ReadonlyArray<Row<typeof baseTrialBalanceSheet.columns>> =>
  balances.map(({ account, closing, credit, debit, opening }) => ({
    account_code: account.code,
    account_name: account.name,
    account_role: account.role,
    currency: account.currency,
    opening: print(opening, baseScale),
    debit: print(debit, baseScale),
    credit: print(credit, baseScale),
    closing: print(closing, baseScale),
  }))

export const baseRatesRows = ({
  rates,
  revaluations,
}: BaseFigures): ReadonlyArray<Row<typeof baseRatesSheet.columns>> => [
  ...revaluations.map(({ account, amount, currency, date, description, rate, source }) => ({
    used_for: "revaluation",
    ...{ currency, date, rate, source },
    lines: rate === null ? null : "1",
    account_name: account,
    revaluation: description,
    amount,
  })),
  ...rates.map(({ currency, date, lines, rate, source }) => ({
    used_for: "entries",
    ...{ currency, date, rate, source },
    lines: String(lines),
    account_name: null,
    revaluation: null,
    amount: null,
  })),
]

export const baseResultsRows = ({
  currency: base,
  results,
}: BaseFigures): ReadonlyArray<Row<typeof baseResultsSheet.columns>> =>
  results.map(({ currency, realized, unrealized }) => ({
    currency,
    base_currency: base,
    realized,
    unrealized,
  }))
