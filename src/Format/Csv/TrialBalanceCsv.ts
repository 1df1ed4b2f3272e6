/**
 * `trial-balance.csv`: a row per account of the book. Debit and credit are the scope's turnovers, positive; opening and
 * closing are signed, debit positive. Amounts are in the major unit at the currency's scale.
 */
import { textCells } from "../../Common/Csv.ts"
import { print } from "../../Common/MinorUnits.ts"
import { definePlain } from "../Format.ts"

const trialBalanceColumns = [
  "account_code",
  "account_name",
  "account_role",
  "currency",
  "opening",
  "debit",
  "credit",
  "closing",
] as const

export const trialBalance = definePlain({
  name: "trial-balance",
  description: "a row per account: opening, debit, credit and closing",
  file: "trial-balance.csv",
  reading: { kind: "balances" },
  order: "number",
  open: ({ accounts }) => ({
    begin: () => `${trialBalanceColumns.join(",")}\n`,
    write: () => "",
    end: (totals) =>
      accounts
        .map(({ account, opening }) => {
          const { debit, credit } = totals.of(account)
          const texts = textCells([account.code, account.name, account.role, account.currency])
          const amounts = [opening, debit, credit, opening + debit - credit]
          return `${[...texts, ...amounts.map((minor) => print(minor, account.scale))].join(",")}\n`
        })
        .join(""),
    rows: () => accounts.length,
  }),
})
