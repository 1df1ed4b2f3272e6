/** `books.ledger` for ledger: passes `ledger -f books.ledger --strict --pedantic bal`. */
import type { Format } from "./Format.ts"
import { type Dialect, indentedWriter, tags } from "./Indented.ts"

const dialect: Dialect = {
  declare: (currencies, accounts) =>
    [
      ...currencies.map(
        ({ commodity, scale }) =>
          `commodity ${commodity}\n    format 1000${scale === 0 ? "" : `.${"0".repeat(scale)}`} ${commodity}`,
      ),
      ...tags.map((tag) => `tag ${tag}`),
      ...accounts.map((name) => `account ${name}`),
      "",
    ].join("\n"),
}

export const ledger: Format = {
  name: "ledger",
  file: "books.ledger",
  order: "date",
  open: (context) => indentedWriter(context, dialect),
}
