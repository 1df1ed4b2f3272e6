/** `roll-forward.csv`: per account its opening, debits and credits by kind, and its closing = opening + debits − credits. */
import { print } from "../Common/MinorUnits.ts"
import type { AccountBalance } from "./ReportBalances.ts"
import type { Row } from "./Sheet.ts"

export const rollForwardSheet = {
  name: "roll-forward.csv",
  columns: {
    account_code: "text",
    account_name: "text",
    account_role: "text",
    currency: "text",
    line: "text",
    kind: "text",
    postings: "figure",
    debit: "figure",
    credit: "figure",
    balance: "figure",
  },
} as const

type RollForwardRow = Row<typeof rollForwardSheet.columns>

const rowsOf = ({ account, closing, movements, opening }: AccountBalance): ReadonlyArray<RollForwardRow> => {
  const money = (minor: bigint) => print(minor, account.scale)
  const head = {
    account_code: account.code,
    account_name: account.name,
    account_role: account.role,
    currency: account.currency,
  }
  const none = { kind: null, postings: null, debit: null, credit: null, balance: null }
  return [
    { ...head, ...none, line: "opening", balance: money(opening) },
    ...movements.map((movement) => ({
      ...head,
      ...none,
      line: "movement",
      kind: movement.kind,
      postings: String(movement.postings),
      debit: money(movement.debit),
      credit: money(movement.credit),
    })),
    // No sum row: summing the column in a spreadsheet would count it twice.
    { ...head, ...none, line: "closing", balance: money(closing) },
  ]
}

export const rollForwardRows = (balances: ReadonlyArray<AccountBalance>): ReadonlyArray<RollForwardRow> =>
  balances.flatMap(rowsOf)
