import { Effect, Option } from "effect"
import { count, counted } from "../../../Common/Text.ts"
import { flagOf } from "../../../Export/Request/StandingBatches.ts"
import {
  exportRates,
  importRates,
  type Kept,
  kept,
  type Overtaken,
  overtaken,
  writeRates,
} from "../../../Rates.ts"
import { Settings } from "../../../Settings.ts"
import { table } from "../../../Terminal/Table.ts"
import { fileLines } from "../../../Terminal.ts"
import { pairs } from "../../../Valuation/Rates/RateStore.ts"
import { books, booksToRead } from "../../BookEnvironment.ts"
import { argument, group, optional, subcommand, text } from "../../Declaration.ts"
import { Output } from "../../Output.ts"

/** What is said of a book whose months an import changes. */
export const overtakenLines = ({ batches, book, months }: Overtaken): ReadonlyArray<string> => [
  `${book}: ${months.join(", ")} will be valued again.`,
  ...batches.map(
    ({ batch, formats, rated, scope }) =>
      `  ${book}/${batch} ${scope} ${formats.join(",")} is out of date then: export it again with ${flagOf({ rated })} --again.`,
  ),
]

const keptBy = (months: ReadonlyArray<string>, state: string): string =>
  `${months.join(", ")} ${months.length === 1 ? `is ${state} and keeps` : `are ${state} and keep`} the rates of the close`

const keptLines = ({ archived, book, months }: Kept): ReadonlyArray<string> => {
  const others = months.filter((month) => !archived.includes(month))
  return [
    ...(archived.length === 0 ? [] : [`${book}: ${keptBy(archived, "archived")} for good.`]),
    ...(others.length === 0
      ? []
      : [
          `${book}: ${keptBy(others, "closed")}: what this file corrects there counts once the month is reopened (tieout reopen).`,
        ]),
  ]
}

const importFile = subcommand(
  { name: "import", takes: { file: argument.text("FILE") } },
  Effect.fn("Cli.rates.import")(function* ({ file }) {
    const output = yield* Output
    const { accounting, chart } = yield* Settings
    const { baseCurrency, valuation: settings } = accounting
    const imported = yield* importRates(file)
    const { rates: found, stored, version } = imported
    const now = yield* overtaken({ baseCurrency, settings, chart })
    const still = version === null ? [] : yield* kept(version, { baseCurrency, settings, chart })
    yield* output.report({
      document: { ...imported, overtaken: now, kept: still },
      lines: [
        version === null
          ? `${counted(found, "rate")}: nothing was stored.`
          : `Version ${version}, ${counted(found, "rate")}${stored === found ? "" : `, of which ${count(stored)} new; the others are known`}. To use them: tieout export --base …`,
        ...now.flatMap(overtakenLines),
        ...still.flatMap(keptLines),
      ],
    })
  }, Effect.provide(books)),
)

const exportFile = subcommand(
  { name: "export", takes: { out: optional(text("out", "FILE", "A new file"), "standard output") } },
  Effect.fn("Cli.rates.export")(function* ({ out }) {
    const output = yield* Output
    const lines = yield* exportRates()
    if (Option.isNone(out)) {
      return yield* output.report({
        document: { lines },
        lines: fileLines(lines, output.terminal.stdout),
      })
    }
    yield* writeRates(out.value, lines)
    const found = lines.length - 1
    yield* output.report({
      document: { file: out.value, rates: found },
      lines: [`${out.value}: ${counted(found, "rate")}.`],
    })
  }, Effect.provide(booksToRead)),
)

const columns = [
  { title: "Pair" },
  { title: "Days", align: "right" },
  { title: "First" },
  { title: "Last" },
  { title: "Newest version", align: "right" },
] as const

const listPairs = subcommand(
  { name: "list", takes: {} },
  Effect.fn("Cli.rates.list")(function* () {
    const output = yield* Output
    const found = yield* pairs()
    const rows = found.map(({ days, first, from, last, newestVersion, to }) => [
      `${from}/${to}`,
      count(days),
      first,
      last,
      count(newestVersion),
    ])
    yield* output.report({
      document: { pairs: found },
      lines:
        rows.length === 0
          ? ["There are no rates yet: tieout rates import FILE"]
          : table(columns, rows, output.terminal.stdout),
    })
  }, Effect.provide(booksToRead)),
)

export const rates = group(
  {
    name: "rates",
    summary: "Keep the exchange rates that the base-currency journal is valued at.",
    about: [
      "import: a CSV with the columns date,from,to,rate,source: one unit of from is worth rate of to. Or the history of reference",
      "rates that the European Central Bank publishes, eurofxref-hist.csv, as it is. It is checked as a whole",
      "and stored as a new version, or refused with every mistake by its line and nothing stored (exit code 2). The newest rate",
      "of a day and pair counts; where only the other direction is there, it is turned round exactly, and where there is neither, two are crossed through the euro. Then",
      "it says which months will be valued again, which batches are out of date, and which closed months keep rates that the file corrects.",
      "export: all rates that count, as such a file. list: the pairs, and the days that they are there for.",
    ],
    examples: [
      ["tieout rates import eurofxref-hist.csv", "the ECB's history of rates, as it is published"],
      ["tieout rates list", "what there is"],
    ],
  },
  [importFile, exportFile, listPairs],
)
