/** `books.journal` for hledger: passes `hledger -f books.journal check -s ordereddates`. */
import { definePlain } from "../Format.ts"
import { type Dialect, indentedWriter, sample, tags } from "./Indented.ts"
import { indentedReading } from "./IndentedReader.ts"

const dialect: Dialect = {
  declare: (currencies, accounts) =>
    [
      "decimal-mark .",
      // Version 1.25 accepts a transaction's residue below the declared precision; the final assertions of every account find
      // it.
      ...currencies.map(
        ({ commodity, scale }) => `commodity ${sample(scale)}${scale === 0 ? "." : ""} ${commodity}`,
      ),
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
