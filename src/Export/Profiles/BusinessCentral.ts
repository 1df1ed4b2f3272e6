import type { Profile } from "../Table/Profile.ts"

/** General journal lines: ISO dates, signed amounts, codes of 20 and descriptions of 50; a blank currency is the local one. */
export const businessCentral: Profile = {
  name: "business-central",
  file: "business-central-{currency}{part}.csv",
  encoding: "utf-8",
  delimiter: ",",
  lineEnd: "\n",
  quoteTexts: false,
  header: true,
  columns: [
    { header: "Posting Date", cell: "date" },
    { header: "Document No.", cell: "number" },
    { header: "Account Type", constant: "G/L Account" },
    { header: "Account No.", cell: "account" },
    { header: "Description", cell: "description" },
    { header: "Currency Code", cell: "foreignCurrency" },
    { header: "Amount", cell: "signed" },
    { header: "External Document No.", cell: "number" },
  ],
  date: "iso",
  decimals: { least: 2, most: 8, mark: "." },
  digits: 20,
  text: { most: 50 },
  number: 20,
  limits: { rowsPerJournal: 10_000, rowsPerFile: 100_000 },
  filePerPeriod: false,
  target: "bc_account",
  row: "line",
  currency: /^[A-Z0-9]{3,5}$/,
}
