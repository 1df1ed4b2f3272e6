import { defineTable } from "../Table/Define.ts"
import { lineProfile } from "../Table/LineProfile.ts"
import {
  account,
  credit,
  currency,
  date,
  debit,
  description,
  dimension,
  number,
} from "../Table/SharedCells.ts"
import { qboReader } from "./QuickBooksReader.ts"

/** Journal entries of QuickBooks Online, United States headers: the number is on each row, 1,000 rows a file. */
export const qbo = defineTable({
  name: "qbo",
  description: "journal entries for QuickBooks Online",
  target: {
    column: "qbo_name",
    pattern: /^(?![=+\-@'])[^\s:"\p{Cc}][^:"\p{Cc}]{0,99}(?::[^\s:"\p{Cc}][^:"\p{Cc}]{0,99})*$/u,
    expects: "a name such as Partner:USD, each part at most 100 characters without quotes",
    fallback: "name",
  },
  profile: lineProfile(
    [
      { header: "*JournalNo", cell: number },
      { header: "*JournalDate", cell: date },
      { header: "*AccountName", cell: account },
      { header: "*Debits", cell: debit },
      { header: "*Credits", cell: credit },
      { header: "Description", cell: description },
      { header: "Name" },
      { header: "Currency", cell: currency },
      { header: "Location" },
      { header: "Class", cell: dimension },
    ],
    {
      text: { most: 1000 },
      number: 21,
      limits: { rowsPerJournal: 1000, rowsPerFile: 1000 },
      currencies: "official",
    },
  ),
  reader: qboReader,
})
