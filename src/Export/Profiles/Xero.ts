import type { Profile } from "../Table/Profile.ts"

/** Manual journals: rows with the same narration and date are one journal, at most 300 lines; positive is debit. */
export const xero: Profile = {
  name: "xero",
  file: "xero-{currency}{part}.csv",
  encoding: "ascii",
  delimiter: ",",
  lineEnd: "\n",
  quoteTexts: false,
  header: true,
  columns: [
    { header: "*Narration", cell: "narration" },
    { header: "*Date", cell: "date" },
    { header: "Description", cell: "description" },
    { header: "*AccountCode", cell: "account" },
    { header: "*TaxRate", cell: "taxRate" },
    { header: "*Amount", cell: "signed" },
    { header: "TrackingName1", cell: "tracking" },
    { header: "TrackingOption1", cell: "trackingOption" },
    { header: "TrackingName2" },
    { header: "TrackingOption2" },
  ],
  date: "long",
  decimals: { least: 2, most: 8, mark: "." },
  digits: 20,
  text: { most: 200 },
  number: 80,
  limits: { rowsPerJournal: 300, rowsPerFile: 100_000 },
  filePerPeriod: false,
  target: "xero_code",
  row: "line",
  currency: /^[A-Z0-9]{3,5}$/,
}
