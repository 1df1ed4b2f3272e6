import { defineTable } from "../Table/Define.ts"
import { lineProfile } from "../Table/LineProfile.ts"
import { date, description, number, signed, templated } from "../Table/SharedCells.ts"
import { xeroStatementReader } from "./XeroStatementReader.ts"

/**
 * A bank account's statement lines for Xero, at most 1,000 a file: a file per account, money in positive. Two decimals, since
 * Xero's bank accounts have no more; an amount with more is refused.
 */
export const xeroStatement = defineTable({
  name: "xero-statement",
  description: "bank statement lines for Xero, a file per account",
  target: null,
  besideStatement: true,
  profile: lineProfile(
    [
      { header: "Date", cell: date },
      { header: "Amount", cell: signed },
      { header: "Payee", cell: templated("{counterparty}") },
      { header: "Description", cell: description },
      { header: "Reference", cell: number },
      { header: "Cheque Number" },
    ],
    {
      file: "xero-statement-{currency}-{account}{part}.csv",
      date: "iso",
      decimals: { least: 2, most: 2, mark: "." },
      text: { most: 255 },
      limits: { rowsPerJournal: 1000, rowsPerFile: 1000 },
      mode: "statement",
      currencies: "official",
    },
  ),
  reader: xeroStatementReader,
})
