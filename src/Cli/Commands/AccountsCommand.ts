import { Effect, Option } from "effect"
import { counted } from "../../Common/Text.ts"
import { printed } from "../../Export/Mapping/MappingCsv.ts"
import { current, importFrom, writeTo } from "../../Export/Mapping.ts"
import { books } from "../Books.ts"
import { argument, group, optional, subcommand, text } from "../Declaration.ts"
import { book } from "../Options.ts"
import { Output } from "../Output.ts"

const exportAccounts = subcommand(
  {
    name: "export",
    takes: { out: optional(text("out", "FILE", "A new file"), "standard output"), book },
  },
  Effect.fn("Cli.accounts.export")(function* ({ book, out }) {
    const output = yield* Output
    const rows = yield* current(book)
    if (Option.isNone(out)) return yield* output.report({ document: { rows }, lines: printed(rows) })
    yield* writeTo(out.value, rows)
    yield* output.report({
      document: { file: out.value, accounts: rows.length },
      lines: [
        `${out.value}: ${counted(rows.length, "account")}. Fill in the columns of your system, then: tieout accounts import ${out.value}`,
      ],
    })
  }, Effect.provide(books)),
)

const importAccounts = subcommand(
  { name: "import", takes: { file: argument.text("FILE") } },
  Effect.fn("Cli.accounts.import")(function* ({ file }) {
    const output = yield* Output
    const imported = yield* importFrom(file)
    yield* output.report({
      document: { imported },
      lines: imported.map(
        ({ accounts, book, version }) => `${book}: version ${version}, ${counted(accounts, "account")}.`,
      ),
    })
  }, Effect.provide(books)),
)

export const accounts = group(
  {
    name: "accounts",
    summary: "Say what the books' accounts are called in your accounting system.",
    about: [
      "export: the accounts in use as CSV, with a column per accounting system, filled as last imported.",
      "import: checks the edited file as a whole and stores it as a new version, or says what is wrong, line by line, and",
      "stores nothing. Exports use the newest version; a column left empty throughout means the chart's own codes and names.",
    ],
    examples: [
      ["tieout accounts export --out accounts.csv", "to edit in a spreadsheet"],
      ["tieout accounts import accounts.csv", "what the next export uses"],
    ],
  },
  [exportAccounts, importAccounts],
)
