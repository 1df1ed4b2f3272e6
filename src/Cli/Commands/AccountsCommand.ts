import { Args, Command, Options } from "@effect/cli"
import { Effect, Option } from "effect"
import { counted } from "../../Common/Text.ts"
import { printed } from "../../Export/Mapping/MappingCsv.ts"
import { current, importFrom, writeTo } from "../../Export/Mapping.ts"
import { books } from "../Books.ts"
import { Output } from "../Output.ts"

const exportAccounts = Command.make(
  "export",
  { out: Options.text("out").pipe(Options.optional), book: Options.text("book").pipe(Options.optional) },
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

const importAccounts = Command.make(
  "import",
  { file: Args.text({ name: "FILE" }) },
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

export const accounts = Command.make("accounts").pipe(
  Command.withSubcommands([exportAccounts, importAccounts]),
)
