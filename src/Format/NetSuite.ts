import { lineProfile } from "./Table/LineProfile.ts"

/** Journal entries: the external id, on every row, keeps a second import out. Amounts have ten digits and two decimals. */
export const netsuite = lineProfile(
  "netsuite",
  "netsuite_id",
  [
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
  {
    decimals: { least: 2, most: 2, mark: "." },
    digits: 10,
    text: { most: 300 },
    limits: { rowsPerJournal: 10_000, rowsPerFile: 25_000 },
  },
)
