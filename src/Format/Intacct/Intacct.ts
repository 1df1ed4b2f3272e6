import { Schema } from "effect"
import { withDefault } from "../../Common/Field.ts"
import { ShortText, wholeNumber } from "../OwnSettings.ts"
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
  dimension,
  inForeign,
  name,
  narration,
  number,
  plain,
  rate,
} from "../Table/SharedCells.ts"
import { intacctRatedReader, intacctReader } from "./IntacctReader.ts"

const Settings = Schema.Struct({
  journal: withDefault(ShortText, "GJ"),
  location: withDefault(Schema.NullOr(ShortText), null),
  /** Characters of DESCRIPTION, at most: the vendor's pages say 80 and 30. */
  descriptionLength: withDefault(wholeNumber(30, 80), 80),
})

const shapeOf = (
  { descriptionLength, journal, location }: typeof Settings.Type,
  ownRates?: RateStyle,
): Shape =>
  lineProfile(
    [
      { header: "DONOTIMPORT" },
      { header: "JOURNAL", cell: name(() => journal), first: true },
      { header: "DATE", cell: date, first: true },
      { header: "DESCRIPTION", cell: narration, first: true, most: descriptionLength },
      { header: "REFERENCE_NO", cell: number, first: true },
      { header: "LINE_NO", cell: plain(({ place }) => String(place)) },
      { header: "ACCT_NO", cell: account },
      { header: "LOCATION_ID", cell: name(() => location ?? "") },
      { header: "DEPT_ID", cell: dimension },
      { header: "MEMO", cell: description },
      { header: "DEBIT", cell: debit },
      { header: "CREDIT", cell: credit },
      ...(ownRates === undefined
        ? []
        : [
            { header: "CURRENCY", cell: currency },
            { header: "EXCH_RATE_DATE", cell: inForeign(date) },
            // Empty: a rate of ours, of none of the tenant's types.
            { header: "EXCH_RATE_TYPE_ID" },
            { header: "EXCH_RATE", cell: inForeign(rate) },
          ]),
    ],
    {
      encoding: "ascii",
      text: { most: 200, without: /[,"]/g },
      number: 20,
      limits: { rowsPerJournal: 5000, rowsPerFile: 5000 },
      ...(ownRates === undefined
        ? { currencies: "base" }
        : { currencies: "official", decimals: { least: 2, most: 2, mark: "." }, rates: ownRates }),
    },
  )

/** Intacct values each line at the rate beside it. */
const rates: RateStyle = { decimals: 10, digits: 8, least: 1n, quantity: false, states: false }

/** Journal entries: header fields on a journal's first line only, lines from 1, ASCII without commas in texts. */
export const intacct = defineTable({
  name: "intacct",
  description: "journal entries for Sage Intacct",
  target: {
    column: "intacct_account",
    pattern: /^[A-Za-z0-9][A-Za-z0-9.-]{0,23}$/,
    expects: "a number of at most 24 letters, digits and dashes",
    fallback: "code",
  },
  settings: Settings,
  profile: (own) => shapeOf(own),
  rated: { profile: (own) => shapeOf(own, rates), reader: intacctRatedReader },
  reader: intacctReader,
})
