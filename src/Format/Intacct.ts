import { lineProfile } from "./Table/LineProfile.ts"

/** Journal entries: header fields on a journal's first line only, lines from 1, ASCII without commas in texts. */
export const intacct = lineProfile(
  "intacct",
  "intacct_account",
  [
    { header: "DONOTIMPORT" },
    { header: "JOURNAL", cell: "intacctJournal", first: true },
    { header: "DATE", cell: "date", first: true },
    { header: "DESCRIPTION", cell: "narration", first: true, most: 80 },
    { header: "REFERENCE_NO", cell: "number", first: true },
    { header: "LINE_NO", cell: "place" },
    { header: "ACCT_NO", cell: "account" },
    { header: "LOCATION_ID", cell: "location" },
    { header: "DEPT_ID", cell: "dimension" },
    { header: "MEMO", cell: "description" },
    { header: "DEBIT", cell: "debit" },
    { header: "CREDIT", cell: "credit" },
  ],
  {
    encoding: "ascii",
    text: { most: 200, without: /[,"]/g },
    number: 20,
    limits: { rowsPerJournal: 5000, rowsPerFile: 5000 },
  },
)
