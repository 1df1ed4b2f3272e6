import { Effect, Either, Option } from "effect"
import { counted, harmless, inShell } from "../../../Common/Text.ts"
import { printed } from "../../../Export/Mapping/MappingCsv.ts"
import { proposed } from "../../../Export/Mapping/Proposed.ts"
import { current, type Imported, importFrom, writeTo } from "../../../Export/Mapping.ts"
import { tableFormats } from "../../../Format/Formats.ts"
import { Settings } from "../../../Settings.ts"
import { fileLines } from "../../../Terminal.ts"
import { books, booksToRead } from "../../BookEnvironment.ts"
import { book } from "../../CommandOptions.ts"
import { argument, group, list, optional, subcommand, text } from "../../Declaration.ts"
import { Output } from "../../Output.ts"
import { ownCodesAdvice, sharedText } from "../../Tables/SharedCodes.ts"
import { formatsIn } from "./ExportOptions.ts"

/** The formats that take accounts from the mapping, each with a column. */
const mapped = tableFormats.flatMap(({ name, target }) => (target === null ? [] : [{ name, target }]))
const mappedFormats: ReadonlyArray<string> = mapped.map(({ name }) => name)

const columnsFor = (wanted: Option.Option<string>) =>
  Option.match(wanted, {
    onNone: () => Either.right([]),
    onSome: (text) =>
      formatsIn("--for", text, mappedFormats, "The other formats have the chart's own accounts.").pipe(
        Either.map((names) =>
          mapped.filter(({ name }) => names.includes(name)).map(({ target }) => target.column),
        ),
      ),
  })

const baseOf = Effect.map(Settings, ({ accounting: { baseCurrency }, chart }) => ({ baseCurrency, chart }))

/** The most changes listed per book; `--json` has all. */
const mostListed = 30

const shown = (text: string): string => (text === "" ? "nothing" : text)

/** The format whose column it is; of the chart's codes no format. */
const formatOf = (column: string): string =>
  mapped.find(({ target }) => target.column === column)?.name ?? "FORMAT"

const sharedLines = ({ book, shared: codes }: Imported): ReadonlyArray<string> =>
  codes.flatMap((shared) => [
    `${book}: ${sharedText(shared, shared.column === "code" ? "No column has a code, and in the chart's codes" : `In ${shared.column}`)}`,
    `  ${ownCodesAdvice(formatOf(shared.column))}`,
  ])

/** What is said of a book after an import. */
export const importedLines = (imported: Imported): ReadonlyArray<string> => {
  const { accounts, book, changes, unmapped, version } = imported
  return [
    changes.length === 0
      ? `${book}: nothing changed; version ${version}, ${counted(accounts, "account")}.`
      : `${book}: version ${version}, ${counted(accounts, "account")}, ${counted(changes.length, "change")}:`,
    ...changes
      .slice(0, mostListed)
      .map(({ account, after, before, column }) =>
        harmless(`  ${column} of ${account}: ${shown(before)} → ${shown(after)}`),
      ),
    ...(changes.length > mostListed
      ? [`  … and ${changes.length - mostListed} more; --json lists them all.`]
      : []),
    ...unmapped.map(
      ({ accounts: lacking, column }) =>
        `${book}: ${counted(lacking.length, "account")} without ${column}: ${harmless(lacking.slice(0, 3).join(", "))}${lacking.length > 3 ? " …" : ""}`,
    ),
    ...sharedLines(imported),
  ]
}

const exportAccounts = subcommand(
  {
    name: "export",
    takes: {
      out: optional(text("out", "FILE", "A new file; a workbook where it ends in .xlsx"), "standard output"),
      book,
      for: optional(
        list(
          "for",
          "F",
          "Proposes codes in the columns of these formats, where they have none",
          mappedFormats,
        ),
      ),
    },
  },
  Effect.fn("Cli.accounts.export")(function* ({ book, for: wanted, out }) {
    const output = yield* Output
    const columns = yield* columnsFor(wanted)
    const rows = proposed(yield* current(book, yield* baseOf), columns)
    if (Option.isNone(out)) {
      const lines = () => fileLines(printed(rows), output.terminal.stdout)
      return yield* output.report({ document: { rows }, lines })
    }
    yield* writeTo(out.value, rows)
    yield* output.report({
      document: { file: out.value, accounts: rows.length },
      lines: [
        `${out.value}: ${counted(rows.length, "account")}. Fill in the columns of your system, then: tieout accounts import ${inShell(out.value)}`,
      ],
    })
  }, Effect.provide(booksToRead)),
)

const importAccounts = subcommand(
  { name: "import", takes: { file: argument.text("FILE") } },
  Effect.fn("Cli.accounts.import")(function* ({ file }) {
    const output = yield* Output
    const imported = yield* importFrom(file, yield* baseOf)
    yield* output.report({ document: { imported }, lines: imported.flatMap(importedLines) })
  }, Effect.provide(books)),
)

export const accounts = group(
  {
    name: "accounts",
    summary: "Say what the books' accounts are called in your accounting system.",
    about: [
      "export: the accounts in use as CSV or XLSX, with a column per accounting system, filled as last imported. --for xero,datev proposes",
      "the chart's codes where there are none, and a code of its own for every bank account and wallet.",
      "import: checks the edited file as a whole and stores it as a new version, or says what is wrong, line by line, and",
      "stores nothing. It says what changed. An account that the file has not keeps its names. Exports use the newest version; a column left empty throughout means the chart's own codes and names.",
    ],
    examples: [
      ["tieout accounts export --for xero --out accounts.xlsx", "to edit in a spreadsheet"],
      ["tieout accounts import accounts.xlsx", "what the next export uses"],
    ],
  },
  [exportAccounts, importAccounts],
)
