/** Re-reads `trial-balance.csv`: every account of the manifest, in its order, with its figures. */
import { guarded } from "../Common/Csv.ts"
import { print } from "../Common/MinorUnits.ts"
import type { Problems } from "../Common/Problems.ts"
import type { FileRecord } from "../Export/Batch/Manifest.ts"
import type { ExpectedAccount } from "./AccountsProof.ts"
import { readCsv } from "./CsvRows.ts"

/** By the contract, independently of the writer. */
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

const expectedRow = ({
  account,
  opening,
  debit,
  credit,
  closing,
}: ExpectedAccount): ReadonlyArray<string> => [
  ...[account.code, account.name, account.role, account.currency].map(guarded),
  ...[opening, debit, credit, closing].map((minor) => print(minor, account.scale)),
]

export const checkTrialBalance = async (
  chunks: AsyncIterable<Buffer>,
  { name: file, rows: statedRows }: FileRecord,
  accounts: ReadonlyArray<ExpectedAccount>,
  problems: Problems,
): Promise<void> => {
  let place = 0
  const rows = await readCsv(chunks, file, trialBalanceColumns, problems, (row, line) => {
    const expected = accounts[place]
    place += 1
    if (expected === undefined)
      return problems.add(file, line, "is an account that the manifest does not have")
    expectedRow(expected).forEach((stated, column) => {
      const found = row.cell(column)
      if (found === stated) return
      const where = `${trialBalanceColumns[column]} of ${expected.account.code} ${expected.account.name}`
      problems.add(file, line, `${where}: ${found}, the manifest says ${stated}`)
    })
  })
  if (rows !== statedRows || rows !== accounts.length) {
    problems.add(file, null, `has ${rows} accounts, the manifest says ${accounts.length}`)
  }
}
