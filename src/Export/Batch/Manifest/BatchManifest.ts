/** Puts a batch's manifest together. */
import { Option } from "effect"
import type { Book } from "../../../Book.ts"
import { print } from "../../../Common/MinorUnits.ts"
import { productVersion } from "../../../Common/Package.ts"
import type { OpenedAccount } from "../../../Format/Entry.ts"
import { entityOf } from "../../../Format/FormatSettings.ts"
import { bankStatementsOf, type FormatName, tablesOf } from "../../../Format/Formats.ts"
import type { Totals } from "../../../Format/Totals.ts"
import type { ValuationOptions } from "../../../Valuation/ValuedBook.ts"
import type { TableOptions } from "../../Mapping/PreparedTables.ts"
import type { Selection } from "../../Request/ExportScope.ts"
import type { Facts } from "../../Source/BookFacts.ts"
import { type FileRecord, formatVersion, type Manifest } from "../Manifest.ts"
import type { Lineage } from "./Lineage.ts"

/** What batches that are written in one pass have in common. */
export interface Shared {
  readonly book: Book
  readonly selection: Selection
  readonly options: TableOptions
  /** In the base currency, valued so; in the books' own currencies where absent. */
  readonly base: ValuationOptions | undefined
  /** The book's batch before the first of them. */
  readonly previous: Lineage["previous"]
}

/** What each of them has for itself. */
export interface BatchPart {
  readonly batch: number
  readonly formats: ReadonlyArray<FormatName>
  readonly lineage: Omit<Lineage, "closes" | "previous">
}

export interface BatchPlan extends Shared, BatchPart {}

/** The options have the settings of the book. */
const entitiesOf = ({ formats, options: { settings } }: BatchPlan) => {
  const found = tablesOf(formats).flatMap((format) => {
    const entity = entityOf(format, settings)
    return entity === null ? [] : [[format.name, entity] as const]
  })
  return found.length === 0 ? {} : { entities: Object.fromEntries(found) }
}

const tablesPart = (plan: BatchPlan, mappingVersion: number | null): Pick<Manifest, "tables"> => {
  const { formats, options } = plan
  return tablesOf(formats).length > 0
    ? {
        tables: {
          mode: options.mode,
          ...(options.mode === "summary" && options.summary !== undefined
            ? { summary: options.summary }
            : {}),
          ...(options.rated === true
            ? { rated: true, exchangeResults: options.settings.exchangeResults }
            : {}),
          mappingVersion,
          leftOut: options.settings.leaveOut,
          ...entitiesOf(plan),
        },
      }
    : {}
}

const banksPart = ({ formats, options }: BatchPlan): Pick<Manifest, "bankLeftOut"> =>
  bankStatementsOf(formats).length > 0 && options.settings.leaveOut.length > 0
    ? { bankLeftOut: options.settings.leaveOut }
    : {}

const totalsFor = (accounts: ReadonlyArray<OpenedAccount>, totals: Totals): Manifest["accounts"] =>
  accounts.map(({ account, opening }) => {
    const { debit, credit } = totals.of(account)
    const { scale, ...names } = account
    return {
      ...names,
      opening: print(opening, scale),
      debit: print(debit, scale),
      credit: print(credit, scale),
      closing: print(opening + debit - credit, scale),
    }
  })

/** What is new since the last time is of no dates: it stands on the closes of the months that it has entries of. */
const closesOf = (periods: Manifest["periods"], closes: Lineage["closes"]): Lineage["closes"] => {
  const months = new Set(periods.map(({ period }) => period))
  return closes.filter(({ period }) => months.has(period))
}

export const manifestOf = (
  plan: BatchPlan,
  facts: Facts,
  accounts: ReadonlyArray<OpenedAccount>,
  totals: Totals,
  files: ReadonlyArray<FileRecord>,
  through: bigint,
  mappingVersion: number | null,
  closes: Lineage["closes"],
  base: Manifest["base"],
): Manifest => {
  const { batch, book, formats, lineage, previous, selection } = plan
  const { asOf, covered, from, kind, since, text, to } = selection
  const periods = totals.periods()
  return {
    product: "tieout",
    version: productVersion(),
    formatVersion,
    connection: book.connection,
    book: {
      code: book.code,
      name: book.name,
      clientId: Option.getOrNull(book.clientId),
      knownSince: facts.knownSince,
    },
    batch,
    lineage: { ...lineage, previous, closes: kind === "since-last" ? closesOf(periods, closes) : closes },
    createdAt: facts.createdAt,
    scope: { kind, text, from, to, since, covered, asOf },
    complete: facts.reasons.length === 0,
    reasons: facts.reasons,
    formats,
    ...tablesPart(plan, mappingVersion),
    ...banksPart(plan),
    ...(base === undefined ? {} : { base }),
    files,
    entries: totals.entries,
    postings: totals.postings,
    firstNumber: periods[0]?.first ?? null,
    lastNumber: periods.at(-1)?.last ?? null,
    throughNumbering: (since !== null && BigInt(since) > through ? BigInt(since) : through).toString(),
    periods,
    currencies: totals.currencies().map(({ debit, credit, ...rest }) => ({
      ...rest,
      debit: print(debit, rest.scale),
      credit: print(credit, rest.scale),
    })),
    accounts: totalsFor(accounts, totals),
    read: facts.read,
  }
}
