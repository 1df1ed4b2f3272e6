/** Re-reads the chart of accounts and the trial balance beside the general ledger detail: each account once, with its figures. */
import type { Problems } from "../Common/Problems.ts"
import type { FileRecord, Layout, Manifest } from "../Export/Batch/Manifest.ts"
import { accompanyingFiles } from "../Format/AccompanyingFiles.ts"
import { dateOf, exact, must, row, scale } from "../Format/Reading/Booked.ts"
import { cellsOf, textOf, Unreadable } from "../Format/Reading/LineCells.ts"
import type { ExpectedAccount } from "./AccountsProof.ts"
import { linesOf } from "./FileLines.ts"

type Row = (place: number) => string

const { of: format } = accompanyingFiles.chartOfAccounts

/** Copied from the standard, not shared with the writer. */
const headers: Readonly<Record<string, string>> = {
  [accompanyingFiles.chartOfAccounts.name]:
    "GL_Account_Number GL_Account_Name GL_Account_Description Account_Type Account_Subtype Business_Unit_Code",
  [accompanyingFiles.periodBalances.name]:
    "GL_Account_Number Fiscal_Year Period Balance_As_Of_Date Amount_Beginning Amount_Ending Amount_Currency Business_Unit_Code",
}

const isBalance = ({ format: name }: FileRecord): boolean => name === accompanyingFiles.periodBalances.name

const checkBalance = (cell: Row, { account, closing, opening }: ExpectedAccount, layout: Layout): void => {
  const unit = 10n ** BigInt(scale - account.scale)
  const date = dateOf(cell(3), layout.date)
  must(
    cell(1) === date.slice(0, 4) && cell(2) === String(Number(date.slice(5, 7))),
    "the period is not the date's",
  )
  must(cell(6) === account.currency, `the currency is ${JSON.stringify(cell(6))}`)
  must(exact(cell(4), layout.decimalMark) === opening * unit, `${cell(4)} is not the opening balance`)
  must(exact(cell(5), layout.decimalMark) === closing * unit, `${cell(5)} is not the closing balance`)
}

const types: ReadonlyArray<string> = ["Assets", "Liabilities", "Equity", "Revenue", "Expenses"]

/** The type that an account's name begins with; undefined: its name says none. */
const typeIn = (name: string): string | undefined => {
  const [root = ""] = name.split(":")
  return root === "Income" ? "Revenue" : types.find((type) => type === root && type !== "Revenue")
}

/** A text without what an import may not keep: signs, spaces, and how a letter is written. */
const bare = (text: string): string => text.normalize("NFKD").replace(/[^\p{L}\p{N}]/gu, "")

const checkAccount = (cell: Row, { account }: ExpectedAccount): void => {
  const type = typeIn(account.name)
  must(
    type === undefined ? types.includes(cell(3)) : cell(3) === type,
    `the account type is ${JSON.stringify(cell(3))}`,
  )
  must(bare(cell(4)) === bare(account.role), `the account subtype is ${JSON.stringify(cell(4))}`)
  // The description is the code, the currency and the service's account, if it has one.
  const words = cell(2).split(" ")
  const currency = words.at(account.partnerAccountId === null ? -1 : -2) ?? ""
  // In the base currency the account's own currency stands in its number; older batches have the base currency here.
  must(
    bare(cell(2)) === bare(`${account.code}${currency}${account.partnerAccountId ?? ""}`) &&
      currency !== "" &&
      (currency === account.currency || cell(0).startsWith(`${account.code}-${currency}`)),
    "the description is another account's",
  )
}

export const checkAccountFile = async (
  chunks: AsyncIterable<Buffer>,
  file: FileRecord,
  { book, formatVersion, tables }: Manifest,
  accounts: ReadonlyArray<ExpectedAccount>,
  problems: Problems,
): Promise<void> => {
  const layout = tables?.layouts?.[format]
  if (formatVersion === 1) return
  if (layout === undefined) {
    problems.add(file.name, null, `stands beside no ${format}`)
    return
  }
  const columns = (headers[file.format] ?? "").split(" ")
  const left = new Map(accounts.map((each) => [each.mapped[format] ?? "", each]))
  let line = 0
  const read = (bytes: Buffer): void => {
    const end = layout.lineEnd === "CRLF" && bytes.at(-1) === 0x0d ? -1 : undefined
    const cell = row(
      cellsOf(textOf(bytes.subarray(0, end), layout.encoding), layout.delimiter),
      columns.length,
    )
    if (line === 1) {
      must(
        columns.every((name, at) => cell(at) === name),
        "the header is not the standard's",
      )
      return
    }
    const expected = left.get(cell(0))
    left.delete(cell(0))
    if (expected === undefined)
      throw new Unreadable(`${cell(0)} is no account of the manifest, or a second one`)
    must(
      cell(columns.length - 1) === book.code,
      `the business unit is ${JSON.stringify(cell(columns.length - 1))}`,
    )
    if (isBalance(file)) checkBalance(cell, expected, layout)
    else checkAccount(cell, expected)
  }
  const report = (cause: unknown): void => {
    if (!(cause instanceof Unreadable)) throw cause
    problems.add(file.name, line, cause.message)
  }
  try {
    for await (const bytes of linesOf(chunks)) {
      line += 1
      try {
        read(bytes)
      } catch (cause) {
        report(cause)
      }
    }
  } catch (cause) {
    report(cause)
  }
  for (const number of left.keys()) problems.add(file.name, null, `lacks the account ${number}`)
  if (line - 1 !== file.rows)
    problems.add(file.name, null, `has ${line - 1} rows, the manifest says ${file.rows}`)
}
