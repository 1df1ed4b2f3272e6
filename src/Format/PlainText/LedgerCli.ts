/** `books.ledger` for ledger: passes `ledger -f books.ledger --strict --pedantic bal`. */
import { definePlain } from "../Format.ts"
import { type Dialect, indentedWriter, sample, tags } from "./Indented.ts"
import { indentedReading } from "./IndentedReader.ts"

const dialect: Dialect = {
  declare: (currencies, accounts) =>
    [
      ...currencies.map(
        ({ commodity, scale }) => `commodity ${commodity}\n    format ${sample(scale)} ${commodity}`,
      ),
      ...tags.map((tag) => `tag ${tag}`),
      ...accounts.map((name) => `account ${name}`),
      "",
    ].join("\n"),
}

export const ledger = definePlain({
  name: "ledger",
  description: "a journal for ledger",
  file: "books.ledger",
  order: "date",
  open: (context) => indentedWriter(context, dialect),
  reading: indentedReading,
})
