/** What can be asked of an export, and what cannot. */
import { Effect, Either, type Option, Schema } from "effect"
import {
  bankStatementsOf,
  type FormatName,
  formatNames,
  isFormatName,
  tableFormats,
  tablesOf,
} from "../Format/Formats.ts"
import type { TableFormat } from "../Format/Table/Define.ts"
import type { Mode } from "../Format/Table/Journals.ts"
import type { SummaryStyle } from "../Format/Table/SummaryJournals.ts"
import type { AsOf } from "../Ledger/AsOf.ts"
import { Content } from "../Settings/Content.ts"
import type { ValuationOptions } from "../Valuation/ValuedBook.ts"
import { type ExportError, exportError } from "./ExportError.ts"
import type { TableOptions } from "./Mapping/PreparedTables.ts"
import type { ExportScope } from "./Request/ExportScope.ts"

export interface ExportRequest {
  /** Names as in `--format`; each once. */
  readonly formats: ReadonlyArray<string>
  readonly scope: ExportScope
  /** All connections when none. */
  readonly connection: Option.Option<string>
  /** A book's code or its client's id; all books of the connection when none. */
  readonly book: Option.Option<string>
  /** The folder that the books' folders stand in. */
  readonly out: string
  /** For accounting systems' formats; a journal per entry when absent. */
  readonly mode?: Mode
  /** With `mode: summary`: by day, debits and credits, when absent. */
  readonly summary?: SummaryStyle
  /** The settings of these formats; their defaults when absent. */
  readonly tables?: Pick<TableOptions, "settings" | "baseCurrency">
  /** A preview: written, numbered and checked, but it does not count until it is committed. */
  readonly preview?: boolean
  /** Accounting systems: the whole selection, and the batches that have any of it are superseded. */
  readonly again?: boolean
  /** An as-of export: what the books said then. Such a batch never counts as exported. */
  readonly asOf?: AsOf
  /** Who exports, as the batches keep it; the schedule when absent. */
  readonly who?: string
  /** Keep the files in the database too, once the batch is committed; when absent: yes. */
  readonly keepFiles?: boolean
  /** A batch for each format; else those with the same entries share one, whose files then prove each other. */
  readonly perFormat?: boolean
  /** Where a day of `asOf` ends in books without entries; UTC when absent. */
  readonly timeZone?: string
  /** Everything in the base currency, from the base-currency journal; the books' own currencies when absent. */
  readonly base?: ValuationOptions
  /** With `base`: journals in the currency that moved, with their rates, in the formats that take them. */
  readonly rated?: boolean
}

const { accounting, formats: formatSettings } = Schema.decodeUnknownSync(Content)({})
export const defaults = { settings: formatSettings, baseCurrency: accounting.baseCurrency }

export const checkFormats = (
  names: ReadonlyArray<string>,
): Either.Either<ReadonlyArray<FormatName>, ExportError> => {
  const unknown = names.filter((name) => !isFormatName(name))
  if (unknown.length > 0) {
    return Either.left(
      exportError(
        "Usage",
        `There is no format ${unknown.join(", ")}: choose from ${formatNames.join(", ")}.`,
      ),
    )
  }
  const known = [...new Set(names.filter(isFormatName))]
  return known.length > 0
    ? Either.right(known)
    : Either.left(exportError("Usage", `No format was given: choose from ${formatNames.join(", ")}.`))
}

/** Where a day of `asOf` ends in a book without entries. */
export const timeZoneOf = ({ timeZone }: ExportRequest): string => timeZone ?? accounting.timeZone

const ratedNames: ReadonlyArray<string> = tableFormats
  .filter((format) => format.rated !== null)
  .map(({ name }) => name)

/** Refuses a format that takes one base currency alone where the settings name another: `--base` would write the wrong one. */
const wrongBase = (
  formats: ReadonlyArray<TableFormat>,
  baseCurrency: string,
): readonly [wrong: boolean, message: string] => {
  const other = formats.find(({ template }) => (template.baseCurrency ?? baseCurrency) !== baseCurrency)
  const needed = other?.template.baseCurrency
  return [
    other !== undefined,
    `${other?.name} takes ${needed} alone, and accounting.baseCurrency is ${baseCurrency}. It needs accounting.baseCurrency: ${needed} in the settings and rates into ${needed} (tieout rates import). Nothing was written.`,
  ]
}

/** A bank statement, by ISO 20022 or in a table. */
const isStatement = (name: string): boolean =>
  bankStatementsOf([name]).length > 0 ||
  tablesOf([name]).some(({ template }) => template.mode === "statement")

/** Refuses options that exclude each other. */
export const checkChoices = ({
  again,
  asOf,
  base,
  formats,
  mode,
  preview,
  rated = false,
  scope,
  tables: { baseCurrency } = defaults,
}: ExportRequest) => {
  const tables = tablesOf(formats)
  const unrated = tables.find((format) => format.rated === null && !isStatement(format.name))
  const [bank] = bankStatementsOf(formats)
  const sinceLast = scope.kind === "since-last"
  const choices: ReadonlyArray<readonly [wrong: boolean, message: string]> = [
    wrongBase(tables, base?.baseCurrency ?? baseCurrency),
    [
      bank !== undefined && (sinceLast || asOf !== undefined),
      `${bank?.name} is of whole days as the service has them now: name them with --period, --from and --to or --all, without --as-of.`,
    ],
    [
      asOf !== undefined && (sinceLast || again === true || preview === true),
      "--as-of goes with --period, --from and --to or --all alone: what the books said then is never new, and is not counted.",
    ],
    [
      again === true && sinceLast,
      "--again and --since-last contradict each other: choose the dates with --period, --from and --to or --all.",
    ],
    [
      base !== undefined && formats.every(isStatement),
      `--base and ${formats.join(", ")} do not go together: a bank statement is in its account's own currency. Leave out ${rated ? "--with-rates" : "--base"}.`,
    ],
    [
      rated && unrated !== undefined,
      `${unrated?.name} takes no rates: --with-rates is for ${ratedNames.join(", ")}.`,
    ],
    [
      rated && mode === "summary",
      "--with-rates and --mode summary do not go together: what a day comes to has no rate.",
    ],
  ]
  const wrong = choices.find(([isWrong]) => isWrong)
  return wrong === undefined ? Effect.void : exportError("Usage", wrong[1])
}

/** The base-currency journal has one file per format, nothing left out. */
const optionsOf = ({
  again = false,
  base,
  mode = "detail",
  rated = false,
  summary = { by: "day", net: false },
  tables = defaults,
}: ExportRequest): TableOptions =>
  base === undefined
    ? { ...tables, mode, summary, again }
    : {
        settings: { ...tables.settings, leaveOut: [] },
        ...{ baseCurrency: base.baseCurrency, mode, rated, summary, inBase: true },
      }

/** Formats of one request in the same currency basis. */
export interface RequestPart {
  /** Undefined: in the books' own currencies. */
  readonly base: ValuationOptions | undefined
  readonly formats: ReadonlyArray<FormatName>
  readonly options: TableOptions
}

/** With `base`, what is not of a bank statement is in the base currency; a statement is in its account's own, whatever was asked. */
export const partsOf = (
  formats: ReadonlyArray<FormatName>,
  request: ExportRequest,
): ReadonlyArray<RequestPart> => {
  const { base, rated: _, ...native } = request
  const partOf = (own: ReadonlyArray<FormatName>, asked: ExportRequest): RequestPart => ({
    ...{ formats: own, base: asked.base, options: optionsOf(asked) },
  })
  if (base === undefined) return [partOf(formats, request)]
  return [
    partOf(
      formats.filter((name) => !isStatement(name)),
      request,
    ),
    partOf(formats.filter(isStatement), native),
  ].filter((part) => part.formats.length > 0)
}
