import { lineProfile } from "./Table/LineProfile.ts"

/**
 * A bank account's statement lines for Xero, at most 1,000 a file: a file per account, money in positive. Two decimals, since
 * Xero's bank accounts have no more; an amount with more is refused.
 */
export const xeroStatement = lineProfile(
  "xero-statement",
  null,
  [
    { header: "Date", cell: "date" },
    { header: "Amount", cell: "signed" },
    { header: "Payee", cell: "payee" },
    { header: "Description", cell: "description" },
    { header: "Reference", cell: "number" },
    { header: "Cheque Number" },
  ],
  {
    file: "xero-statement-{currency}-{account}{part}.csv",
    date: "iso",
    decimals: { least: 2, most: 2, mark: "." },
    text: { most: 255 },
    limits: { rowsPerJournal: 1000, rowsPerFile: 1000 },
    mode: "statement",
    currency: /^[A-Z]{3}$/,
  },
)
