import { Schema } from "effect"
import { withDefault } from "../../Common/Field.ts"
import { ShortText, whole } from "../OwnSettings.ts"
import {
  account,
  credit,
  date,
  debit,
  description,
  dimension,
  name,
  narration,
  number,
  plain,
} from "../Table/Cells.ts"
import { defineTable } from "../Table/Define.ts"
import { lineProfile } from "../Table/LineProfile.ts"
import { intacctReader } from "./IntacctReader.ts"

const Settings = Schema.Struct({
  journal: withDefault(ShortText, "GJ"),
  location: withDefault(Schema.NullOr(ShortText), null),
  /** Characters of DESCRIPTION, at most: the vendor's pages say 80 and 30. */
  descriptionLength: withDefault(whole(30, 80), 80),
})

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
  profile: ({ descriptionLength, journal, location }) =>
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
      ],
      {
        encoding: "ascii",
        text: { most: 200, without: /[,"]/g },
        number: 20,
        limits: { rowsPerJournal: 5000, rowsPerFile: 5000 },
        currencies: "base",
      },
    ),
  reader: intacctReader,
})
