import { Effect, Either, Layer, Option } from "effect"
import { allBooks } from "../../../Book.ts"
import { who } from "../../../Close/Person.ts"
import { mayWrite } from "../../../Database/MayWrite.ts"
import { Database } from "../../../Database.ts"
import { print, sha256Of } from "../../../Export/Batch/Manifest/ManifestSeal.ts"
import type { ExportScope } from "../../../Export/Request/Scope.ts"
import { type ExportSummary, run } from "../../../Export.ts"
import { formatNames, formats, tablesOf } from "../../../Format/Formats.ts"
import { parseAsOf } from "../../../Ledger/AsOf.ts"
import { Ledger } from "../../../Ledger.ts"
import { Settings } from "../../../Settings.ts"
import { books, booksToPreview } from "../../Books.ts"
import { choice, command, flag, list, optional, text, withDefault } from "../../Declaration.ts"
import { exitCodes } from "../../ExitCode.ts"
import { UsageError } from "../../Failure.ts"
import { book, from, period, to } from "../../Options.ts"
import { Output } from "../../Output.ts"
import { parseDay, parseMonth } from "../../Period.ts"
import { exportLines } from "../../Tables/ExportTable.ts"

interface ScopeOptions {
  readonly period: Option.Option<string>
  readonly from: Option.Option<string>
  readonly to: Option.Option<string>
  readonly all: boolean
  readonly sinceLast: boolean
}

const advice = "Run tieout export --help to see what it takes."
const wrong = (detail: string) => Either.left(new UsageError({ detail, advice }))

/** The selected entries; exactly one way of selecting them may be used. */
export const scopeOf = (options: ScopeOptions): Either.Either<ExportScope, UsageError> =>
  Either.gen(function* () {
    const ranged = Option.isSome(options.from) || Option.isSome(options.to)
    const ways = [Option.isSome(options.period), ranged, options.all, options.sinceLast].filter(Boolean)
    if (ways.length !== 1) {
      const found = ways.length === 0 ? "Which entries?" : "More than one choice of entries."
      return yield* wrong(`${found} Expected one of --period, --from with --to, --all, --since-last.`)
    }
    if (Option.isSome(options.period))
      return { kind: "period", period: yield* parseMonth(options.period.value) }
    if (options.all) return { kind: "all" }
    if (options.sinceLast) return { kind: "since-last" }
    if (Option.isNone(options.from) || Option.isNone(options.to)) {
      return yield* wrong("--from and --to go together: both days are included.")
    }
    const from = yield* parseDay(options.from.value, "--from")
    const to = yield* parseDay(options.to.value, "--to")
    if (from > to) return yield* wrong(`--to ${to} is before --from ${from}.`)
    return { kind: "range", from, to }
  })

export const formatsOf = (text: string): Either.Either<ReadonlyArray<string>, UsageError> => {
  const wanted = [...new Set(text.split(",").map((name) => name.trim()))].filter((name) => name !== "")
  const known: ReadonlyArray<string> = formatNames
  const unknown = wanted.filter((name) => !known.includes(name))
  if (wanted.length > 0 && unknown.length === 0) return Either.right(wanted)
  const found = unknown.length === 0 ? "no format" : unknown.map((name) => JSON.stringify(name)).join(", ")
  return wrong(`--format: found ${found}, expected one or more of ${known.join(", ")}.`)
}

/** Leaves out the manifest's accounts, which may be many; the file has them. */
const documentOf = ({ batches, complete, empty, exported, outdated, unchanged }: ExportSummary): object => ({
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
  outdated,
})

/**
 * Numbers entries that no sync has numbered yet; a sync under way numbers its own entries when it ends. `onlyReads`: what
 * follows changes nothing, and goes without where the database may only be read.
 */
export const numberEntries = Effect.fn("Cli.export.number")(function* (onlyReads: boolean) {
  const database = yield* Database
  if (onlyReads && !(yield* mayWrite())) return
  const ledger = yield* Ledger
  const all = yield* allBooks(Option.none())
  for (const connection of new Set(all.map((book) => book.connection))) {
    const own = all.filter((book) => book.connection === connection)
    yield* database
      .withSessionLock(`sync:${connection}`, ledger.assignNumbers(own))
      .pipe(
        Effect.catchTag("LockBusy", () =>
          Effect.logWarning(
            `A sync of connection ${connection} is running: what it has not numbered yet has no journal number.`,
          ),
        ),
      )
  }
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
    exits: { attention: "done, and a batch is incomplete" },
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
    const wanted = yield* formatsOf(format)
    const scope = yield* scopeOf(scopeOptions)
    const time = Option.isNone(asOf) ? {} : { asOf: yield* parseAsOf(asOf.value) }
    if (base && withRates) {
      return yield* new UsageError({
        detail: "--base and --with-rates do not go together: the one is in the base currency, the other not.",
        advice,
      })
    }
    if ((base || withRates) && scope.kind === "since-last") {
      return yield* new UsageError({
        detail: `${base ? "--base" : "--with-rates"} and --since-last do not go together: an open month of that journal changes as a whole.`,
        advice: "Name a month with --period, or --all.",
      })
    }
    if (preview && again) {
      return yield* new UsageError({
        detail:
          "--preview and --again do not go together: a preview counts for nothing, and supersedes nothing.",
        advice,
      })
    }
    if (mode === "summary" && tablesOf(wanted).length === 0) {
      return yield* new UsageError({
        detail: `--mode summary is for accounting systems: ${wanted.join(", ")} has every entry.`,
        advice,
      })
    }
    if (mode === "detail" && (net || Option.isSome(by))) {
      return yield* new UsageError({ detail: "--by and --net go with --mode summary alone.", advice })
    }
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
