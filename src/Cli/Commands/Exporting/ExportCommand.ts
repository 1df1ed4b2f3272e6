import { Effect, Layer, Option } from "effect"
import { who } from "../../../Close/Person.ts"
import { print, sha256Of } from "../../../Export/Batch/Manifest/ManifestSeal.ts"
import { type ExportSummary, run } from "../../../Export.ts"
import { formatNames, formats } from "../../../Format/Formats.ts"
import { parseAsOf } from "../../../Ledger/AsOf.ts"
import { Ledger } from "../../../Ledger.ts"
import { Settings } from "../../../Settings.ts"
import { books, booksToPreview } from "../../BookEnvironment.ts"
import { book, from, period, to } from "../../CommandOptions.ts"
import { choice, command, flag, list, optional, text, withDefault } from "../../Declaration.ts"
import { exitCodes } from "../../ExitCode.ts"
import { numberEntries } from "../../NumberEntries.ts"
import { Output } from "../../Output.ts"
import { exportLines } from "../../Tables/ExportTable.ts"
import { formatsIn, refuseContradictions, scopeOf } from "./ExportOptions.ts"

/** Leaves out the manifest's accounts, which may be many; the file has them. */
const documentOf = ({
  batches,
  complete,
  empty,
  exported,
  lacking,
  outdated,
  unchanged,
}: ExportSummary): object => ({
  complete,
  batches: batches.map(({ difference, folder, lackingRates, manifest }) => ({
    folder,
    connection: manifest.connection,
    book: manifest.book.code,
    batch: manifest.batch,
    scope: manifest.scope.text,
    asOf: manifest.scope.asOf ?? null,
    manifestSha256: sha256Of(print(manifest)),
    lineage: manifest.lineage,
    difference,
    lackingRates,
    base: manifest.base ?? null,
    complete: manifest.complete,
    reasons: manifest.reasons,
    entries: manifest.entries,
    firstNumber: manifest.firstNumber,
    lastNumber: manifest.lastNumber,
    currencies: manifest.currencies,
    bankStatements: manifest.bankStatements ?? [],
    files: manifest.files,
  })),
  unchanged,
  empty,
  exported,
  lacking,
  outdated,
})

export const exportCommand = command(
  {
    name: "export",
    usage:
      "--format F[,F…] (--period YYYY-MM | --from DATE --to DATE | --all | --since-last) [--base | --with-rates] [--preview | --again | --as-of TIME] [--mode detail|summary [--by day|month] [--net]] [--book B] [--out DIR]",
    summary: "Write the books as files that accountants import.",
    about: [
      "Each format is a batch of its own. Formats of accounting systems are in the system's own accounts (tieout accounts), with a file per currency.",
      "With --base, all of it in accounting.baseCurrency, at two decimals: conversions with the gain or loss realized on them,",
      "balances revalued at the month's end. Where rates are missing it is refused, and all of them are listed (exit code 2).",
      "Files appear whole or not at all, in DIR/<connection>-<book>/<period>/<batch>/, manifest.json last.",
      "An accounting system keeps what it imported: entries that a batch of the same format has already are left out (a delta),",
      "and where nothing is left, nothing is written. The other formats are whole: a new batch takes the place of the one before.",
    ],
    takes: {
      format: list("format", "F", "One or more formats, separated by commas", formatNames),
      period: period("One month, in the accounting time zone"),
      from,
      to,
      all: flag("all", "Everything"),
      sinceLast: flag("since-last", "What no standing batch of that book and format has"),
      preview: flag("preview", "Write a numbered batch that counts for nothing until tieout batches commit"),
      again: flag(
        "again",
        "Accounting systems: export everything again; batches with any of these entries (--base: days) are superseded as a whole",
      ),
      asOf: optional(
        text(
          "as-of",
          "TIME",
          "An as-of export: the books at that time (2026-11-01T12:00:00Z, or a day: its end), with difference.csv to now; counts for nothing",
        ),
      ),
      base: flag(
        "base",
        "The base-currency journal instead of the books in their own currencies; not with --since-last",
      ),
      withRates: flag(
        "with-rates",
        "datev, intacct, netsuite: journals in the currency that moved, with our rates; else as --base",
      ),
      mode: withDefault(
        choice(
          "mode",
          "detail|summary",
          "Accounting systems: a journal per entry, or sums by day or month and currency",
          ["detail", "summary"],
        ),
        "detail",
      ),
      by: optional(
        choice("by", "day|month", "With --mode summary: a journal per day (default) or per month", [
          "day",
          "month",
        ]),
      ),
      net: flag("net", "With --mode summary: what each account comes to, instead of debits and credits"),
      book,
      out: withDefault(text("out", "DIR", "Where the folders go"), "exports"),
    },
    examples: [
      ["tieout export --format journal,hledger --period 2026-10", "October in two formats"],
      ["tieout export --format journal --since-last", "only what the last export did not have"],
      [
        "tieout export --format journal --period 2026-10 --as-of 2026-11-05",
        "October as the books had it then",
      ],
      [
        "tieout export --base --format xero,camt.053 --period 2026-10",
        "October in the base currency for Xero, and the bank statements",
      ],
      ["tieout export --with-rates --format datev --period 2026-10", "foreign currency with both amounts"],
    ],
    exits: {
      attention: "done, and a batch is incomplete",
      busy: "another export of that book runs, or with --as-of something is being written",
    },
    list: { title: "Formats:", rows: formats.map(({ description, name }) => [name, description]) },
  },
  Effect.fn("Cli.export")(function* ({
    again,
    asOf,
    base,
    book,
    by,
    format,
    mode,
    net,
    out,
    preview,
    withRates,
    ...scopeOptions
  }) {
    const output = yield* Output
    const wanted = yield* formatsIn("--format", format, formatNames)
    const scope = yield* scopeOf(scopeOptions)
    const time = Option.isNone(asOf) ? {} : { asOf: yield* parseAsOf(asOf.value) }
    yield* refuseContradictions({ again, base, by, mode, net, preview, scope, wanted, withRates })
    const style = { by: Option.getOrElse(by, () => "day" as const), net }
    const summary = yield* Effect.gen(function* () {
      const { accounting, chart, export: kept, formats: settings } = yield* Settings
      yield* numberEntries(preview)
      const tables = { settings, baseCurrency: accounting.baseCurrency }
      const { baseCurrency, valuation } = accounting
      const valuing =
        base || withRates ? { rated: withRates, base: { baseCurrency, settings: valuation, chart } } : {}
      return yield* run({
        ...valuing,
        ...{ formats: wanted, scope, connection: Option.none(), book, out, mode, tables, summary: style },
        ...{ again, preview, ...time, who: yield* who },
        perFormat: true,
        keepFiles: kept.keepFiles,
        timeZone: accounting.timeZone,
      })
    }).pipe(Effect.provide(Layer.provideMerge(Ledger.Default, preview ? booksToPreview : books)))
    yield* output.report({
      document: documentOf(summary),
      lines: exportLines(summary, output.terminal.stdout),
      code: summary.complete ? exitCodes.done : exitCodes.attention,
    })
  }),
)
