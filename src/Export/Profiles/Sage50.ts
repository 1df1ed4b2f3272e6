import type { Profile } from "../Table/Profile.ts"

/** Audit trail transactions of Sage 50 UK: positional, a journal debit (JD) or credit (JC) per row, tax code T9. */
export const sage50: Profile = {
  name: "sage50",
  file: "sage50-{currency}{part}.csv",
  encoding: "ascii",
  delimiter: ",",
  lineEnd: "\r\n",
  quoteTexts: false,
  header: false,
  columns: [
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
  date: "DD/MM/YYYY",
  decimals: { least: 2, most: 8, mark: "." },
  digits: 20,
  text: { most: 60, without: /[,"]/g },
  number: 30,
  limits: { rowsPerJournal: 10_000, rowsPerFile: 100_000 },
  filePerPeriod: false,
  target: "sage50_code",
  row: "line",
  currency: /^[A-Z0-9]{3,5}$/,
}
