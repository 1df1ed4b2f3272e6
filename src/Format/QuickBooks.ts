import { lineProfile } from "./Table/LineProfile.ts"

/** Journal entries of QuickBooks Online, United States headers: the number is on each row, 1,000 rows a file. */
export const qbo = lineProfile(
  "qbo",
  "qbo_name",
  [
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
  {
    text: { most: 1000 },
    number: 21,
    limits: { rowsPerJournal: 1000, rowsPerFile: 1000 },
  },
)
