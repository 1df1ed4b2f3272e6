import { lineProfile } from "./Table/LineProfile.ts"

/** Manual journals: rows with the same narration and date are one journal, at most 300 lines; positive is debit. */
export const xero = lineProfile(
  "xero",
  "xero_code",
  [
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
  {
    encoding: "ascii",
    date: "long",
    limits: { rowsPerJournal: 300, rowsPerFile: 100_000 },
  },
)
