import { defineTable } from "../Table/Define.ts"
import { lineProfile } from "../Table/LineProfile.ts"
import { account, date, description, name, number, plain, unsigned } from "../Table/SharedCells.ts"
import { sage50Reader } from "./Sage50Reader.ts"

const department = plain(({ mapped }) => (/^\d{1,3}$/.test(mapped.dimension) ? mapped.dimension : "0"))

/** Audit trail transactions of Sage 50 UK: positional, a journal debit (JD) or credit (JC) per row, tax code T9. */
export const sage50 = defineTable({
  name: "sage50",
  description: "audit trail transactions for Sage 50 (United Kingdom)",
  target: {
    column: "sage50_code",
    pattern: /^\d{1,8}$/,
    expects: "a nominal code of at most 8 digits",
    fallback: "code",
  },
  overridable: "unnamed",
  profile: lineProfile(
    [
      { header: "Type", cell: name(({ minor }) => (minor > 0n ? "JD" : "JC")) },
      { header: "Account Reference" },
      { header: "Nominal A/C Ref", cell: account },
      { header: "Department Code", cell: department },
      { header: "Date", cell: date },
      { header: "Reference", cell: number },
      { header: "Details", cell: description },
      { header: "Net Amount", cell: unsigned },
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
      currencies: "base",
    },
  ),
  reader: sage50Reader,
})
