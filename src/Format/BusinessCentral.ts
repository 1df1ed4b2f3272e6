import { lineProfile } from "./Table/LineProfile.ts"

/** General journal lines: ISO dates, signed amounts, codes of 20 and descriptions of 50; a blank currency is the local one. */
export const businessCentral = lineProfile(
  "business-central",
  "bc_account",
  [
    { header: "Posting Date", cell: "date" },
    { header: "Document No.", cell: "number" },
    { header: "Account Type", constant: "G/L Account" },
    { header: "Account No.", cell: "account" },
    { header: "Description", cell: "description" },
    { header: "Currency Code", cell: "foreignCurrency" },
    { header: "Amount", cell: "signed" },
    { header: "External Document No.", cell: "number" },
  ],
  {
    date: "iso",
    text: { most: 50 },
    number: 20,
  },
)
