import type { Profile } from "../Table/Profile.ts"

/** Journal entries of QuickBooks Online, United States headers: the number is on each row, 1,000 rows a file. */
export const qbo: Profile = {
  name: "qbo",
  file: "qbo-{currency}{part}.csv",
  encoding: "utf-8",
  delimiter: ",",
  lineEnd: "\n",
  quoteTexts: false,
  header: true,
  columns: [
    { header: "*JournalNo", cell: "number" },
    { header: "*JournalDate", cell: "date" },
    { header: "*AccountName", cell: "account" },
    { header: "*Debits", cell: "debit" },
    { header: "*Credits", cell: "credit" },
    { header: "Description", cell: "description" },
    { header: "Name" },
    { header: "Currency", cell: "currency" },
    { header: "Location" },
    { header: "Class", cell: "dimension" },
  ],
  date: "MM/DD/YYYY",
  decimals: { least: 2, most: 8, mark: "." },
  digits: 20,
  text: { most: 1000 },
  number: 21,
  limits: { rowsPerJournal: 1000, rowsPerFile: 1000 },
  filePerPeriod: false,
  target: "qbo_name",
  row: "line",
  currency: /^[A-Z0-9]{3,5}$/,
}
