import { Schema } from "effect"
import { withDefault } from "../../Common/Field.ts"
import { ShortText } from "../OwnSettings.ts"
import { defineTable } from "../Table/Define.ts"
import { lineProfile } from "../Table/LineProfile.ts"
import { account, date, description, name, narration, signed } from "../Table/SharedCells.ts"
import { xeroReader } from "./XeroReader.ts"

const Settings = Schema.Struct({
  /** The full name of the tenant's tax rate. */
  taxRate: withDefault(ShortText, "Tax Exempt"),
  /** The tracking category that the mapping's `dimension` is an option of; null: no tracking. */
  tracking: withDefault(Schema.NullOr(ShortText), null),
})

/** Manual journals: rows with the same narration and date are one journal; positive is debit; at most 300 lines in a file. */
export const xero = defineTable({
  name: "xero",
  description: "manual journals for Xero",
  target: {
    column: "xero_code",
    pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,9}$/,
    expects: "a code of at most 10 letters, digits, dots and dashes",
    fallback: "code",
  },
  settings: Settings,
  profile: ({ taxRate, tracking }) =>
    lineProfile(
      [
        { header: "*Narration", cell: narration },
        { header: "*Date", cell: date },
        { header: "Description", cell: description },
        { header: "*AccountCode", cell: account },
        { header: "*TaxRate", cell: name(() => taxRate) },
        { header: "*Amount", cell: signed },
        {
          header: "TrackingName1",
          cell: name(({ mapped }) => (mapped.dimension === "" ? "" : (tracking ?? ""))),
        },
        {
          header: "TrackingOption1",
          cell: name(({ mapped }) => (tracking === null ? "" : mapped.dimension)),
        },
        { header: "TrackingName2" },
        { header: "TrackingOption2" },
      ],
      {
        encoding: "ascii",
        date: "long",
        limits: { rowsPerJournal: 300, rowsPerFile: 300 },
        currencies: "base",
      },
    ),
  reader: xeroReader,
})
