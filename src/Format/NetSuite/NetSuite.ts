import { Schema } from "effect"
import { withDefault } from "../../Common/Field.ts"
import { ShortText } from "../OwnSettings.ts"
import { defineTable, type Shape } from "../Table/Define.ts"
import { lineProfile } from "../Table/LineProfile.ts"
import type { RateStyle } from "../Table/Profile.ts"
import {
  account,
  credit,
  currency,
  date,
  debit,
  description,
  name,
  number,
  rate,
} from "../Table/SharedCells.ts"
import { netsuiteRatedReader, netsuiteReader } from "./NetSuiteReader.ts"

const Settings = Schema.Struct({ subsidiary: withDefault(Schema.NullOr(ShortText), null) })

const shapeOf = ({ subsidiary }: typeof Settings.Type, rates?: RateStyle): Shape =>
  lineProfile(
    [
      { header: "External ID", cell: number },
      { header: "Date", cell: date },
      { header: "Subsidiary", cell: name(() => subsidiary ?? "") },
      { header: "Currency", cell: currency },
      // Empty: NetSuite takes its own rate of the day.
      { header: "Exchange Rate", ...(rates === undefined ? {} : { cell: rate }) },
      { header: "Memo", cell: description },
      { header: "Account", cell: account },
      { header: "Debit", cell: debit },
      { header: "Credit", cell: credit },
      { header: "Line Memo", cell: description },
    ],
    {
      decimals: { least: 2, most: 2, mark: "." },
      digits: 10,
      text: { most: 300 },
      limits: { rowsPerJournal: 10_000, rowsPerFile: 25_000 },
      numberWithCurrency: true,
      ...(rates === undefined ? {} : { rates }),
    },
  )

/** NetSuite values each line at the journal's rate. */
const rates: RateStyle = { decimals: 10, digits: 8, least: 1n, quantity: false, states: false }

/** Journal entries: the external id on every row prevents a second import. Amounts have ten digits and two decimals. */
export const netsuite = defineTable({
  name: "netsuite",
  description: "journal entries for NetSuite",
  target: {
    column: "netsuite_id",
    pattern: /^[A-Za-z0-9][A-Za-z0-9._ -]{0,59}$/,
    expects: "an account number of at most 60 letters and digits",
    fallback: "code",
  },
  settings: Settings,
  profile: (own) => shapeOf(own),
  rated: { profile: (own) => shapeOf(own, rates), reader: netsuiteRatedReader },
  reader: netsuiteReader,
})
