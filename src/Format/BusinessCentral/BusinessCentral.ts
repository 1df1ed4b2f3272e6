import { account, date, description, name, number, signed } from "../Table/Cells.ts"
import { defineTable } from "../Table/Define.ts"
import { lineProfile } from "../Table/LineProfile.ts"
import { businessCentralReader } from "./BusinessCentralReader.ts"

const foreignCurrency = name(({ journal }, { baseCurrency }) =>
  journal.currency === baseCurrency ? "" : journal.currency,
)

/** General journal lines: ISO dates, signed amounts, codes of 20 and descriptions of 50; a blank currency is the local one. */
export const businessCentral = defineTable({
  name: "business-central",
  description: "general journal lines for Business Central",
  target: {
    column: "bc_account",
    pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,19}$/,
    expects: "a number of at most 20 letters, digits and dashes",
    fallback: "code",
  },
  profile: lineProfile(
    [
      { header: "Posting Date", cell: date },
      { header: "Document No.", cell: number },
      { header: "Account Type", constant: "G/L Account" },
      { header: "Account No.", cell: account },
      { header: "Description", cell: description },
      { header: "Currency Code", cell: foreignCurrency },
      { header: "Amount", cell: signed },
      { header: "External Document No.", cell: number },
    ],
    {
      date: "iso",
      text: { most: 50 },
      number: 20,
    },
  ),
  reader: businessCentralReader,
})
