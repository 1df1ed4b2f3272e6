import { lineProfile } from "./Table/LineProfile.ts"

/** Audit trail transactions of Sage 50 UK: positional, a journal debit (JD) or credit (JC) per row, tax code T9. */
export const sage50 = lineProfile(
  "sage50",
  "sage50_code",
  [
    { header: "Type", cell: "sageType" },
    { header: "Account Reference" },
    { header: "Nominal A/C Ref", cell: "account" },
    { header: "Department Code", cell: "department" },
    { header: "Date", cell: "date" },
    { header: "Reference", cell: "number" },
    { header: "Details", cell: "description" },
    { header: "Net Amount", cell: "unsigned" },
    { header: "Tax Code", constant: "T9" },
    { header: "Tax Amount", constant: "0.00" },
  ],
  {
    encoding: "ascii",
    lineEnd: "\r\n",
    header: false,
    date: "DD/MM/YYYY",
    text: { most: 60, without: /[,"]/g },
    number: 30,
  },
)
