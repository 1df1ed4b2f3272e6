/** `books.journal` for hledger: passes `hledger -f books.journal check -s ordereddates`. */
import { definePlain } from "../Format.ts"
import { type Dialect, indentedWriter, tags } from "./Indented.ts"
import { indentedReading } from "./IndentedReader.ts"

/**
 * hledger 1.25 lets a residue below the declared precision pass, so that the precision declared is beyond that of any
 * amount.
 */
const precise = "1000.000000000000000000"

const dialect: Dialect = {
  declare: (currencies, accounts) =>
    [
      "decimal-mark .",
      ...currencies.map(({ commodity }) => `commodity ${precise} ${commodity}`),
      ...tags.map((tag) => `tag ${tag}`),
      ...accounts.map((name) => `account ${name}`),
      "",
    ].join("\n"),
}

export const hledger = definePlain({
  name: "hledger",
  description: "a journal for hledger",
  file: "books.journal",
  order: "date",
  open: (context) => indentedWriter(context, dialect),
  reading: indentedReading,
})
