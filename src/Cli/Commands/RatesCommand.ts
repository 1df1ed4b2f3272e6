import { Args, Command, Options } from "@effect/cli"
import { Effect, Option } from "effect"
import { count, counted } from "../../Common/Text.ts"
import { exportRates, importRates, type Overtaken, overtaken, writeRates } from "../../Rates.ts"
import { Settings } from "../../Settings.ts"
import { table } from "../../Terminal/Table.ts"
import { pairs } from "../../Valuation/Rates/RateStore.ts"
import { books } from "../Books.ts"
import { Output } from "../Output.ts"

const overtakenLines = ({ batches, book, months }: Overtaken): ReadonlyArray<string> => [
  `${book}: ${months.join(", ")} will be valued again.`,
  ...batches.map(
    ({ batch, formats, scope }) =>
      `  ${book}/${batch} ${scope} ${formats.join(",")} is out of date then: export it again with --base --again.`,
  ),
]

const importCommand = Command.make(
  "import",
  { file: Args.text({ name: "FILE" }) },
  Effect.fn("Cli.rates.import")(function* ({ file }) {
    const output = yield* Output
    const { accounting, chart } = yield* Settings
    const { baseCurrency, valuation: settings } = accounting
    const imported = yield* importRates(file)
    const { rates: found, version } = imported
    const now = yield* overtaken({ baseCurrency, settings, chart })
    yield* output.report({
      document: { ...imported, overtaken: now },
      lines: [
        `Version ${version}, ${counted(found, "rate")}. To use them: tieout export --base …`,
        ...now.flatMap(overtakenLines),
      ],
    })
  }, Effect.provide(books)),
)

const exportCommand = Command.make(
  "export",
  { out: Options.text("out").pipe(Options.optional) },
  Effect.fn("Cli.rates.export")(function* ({ out }) {
    const output = yield* Output
    const lines = yield* exportRates()
    if (Option.isNone(out)) return yield* output.report({ document: { lines }, lines })
    yield* writeRates(out.value, lines)
    const found = lines.length - 1
    yield* output.report({
      document: { file: out.value, rates: found },
      lines: [`${out.value}: ${counted(found, "rate")}.`],
    })
  }, Effect.provide(books)),
)

const columns = [
  { title: "Pair" },
  { title: "Days", align: "right" },
  { title: "First" },
  { title: "Last" },
  { title: "Newest version", align: "right" },
] as const

const listCommand = Command.make(
  "list",
  {},
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
  }, Effect.provide(books)),
)

export const rates = Command.make("rates").pipe(
  Command.withSubcommands([importCommand, exportCommand, listCommand]),
)
