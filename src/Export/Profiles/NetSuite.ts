import type { Profile } from "../Table/Profile.ts"

/** Journal entries: the external id, on every row, keeps a second import out. Amounts have ten digits and two decimals. */
export const netsuite: Profile = {
  name: "netsuite",
  file: "netsuite-{currency}{part}.csv",
  encoding: "utf-8",
  delimiter: ",",
  lineEnd: "\n",
  quoteTexts: false,
  header: true,
  columns: [
    { header: "External ID", cell: "number" },
    { header: "Date", cell: "date" },
    { header: "Subsidiary", cell: "subsidiary" },
    { header: "Currency", cell: "currency" },
    // The system's own rate of the day.
    { header: "Exchange Rate" },
    { header: "Memo", cell: "description" },
    { header: "Account", cell: "account" },
    { header: "Debit", cell: "debit" },
    { header: "Credit", cell: "credit" },
    { header: "Line Memo", cell: "description" },
  ],
  date: "MM/DD/YYYY",
  decimals: { least: 2, most: 2, mark: "." },
  digits: 10,
  text: { most: 300 },
  number: 80,
  limits: { rowsPerJournal: 10_000, rowsPerFile: 25_000 },
  filePerPeriod: false,
  target: "netsuite_id",
  row: "line",
  currency: /^[A-Z0-9]{3,5}$/,
}
