/**
 * Writes the files of one book's batches of one selection, from one repeatable-read snapshot and in one pass over its entries, with
 * memory that does not grow.
 */
import { Effect } from "effect"
import { Database } from "../Database.ts"
import { besides } from "../Format/Besides.ts"
import { encode } from "../Format/Encoding.ts"
import type { FormatContext, SingleFile } from "../Format/Format.ts"
import { bankStatementsOf, needsStatement, plainsOf, tablesOf } from "../Format/Formats.ts"
import { valueThen } from "../Valuation.ts"
import { writeBankStatements } from "./Batch/BankStatementFiles.ts"
import { type BatchPart, type BatchPlan, manifestOf, type Shared } from "./Batch/BatchManifest.ts"
import { type Folder, openFolder } from "./Batch/Folder.ts"
import { type Manifest, manifestFile } from "./Batch/Manifest.ts"
import { print as printManifest, sha256Of } from "./Batch/ManifestSeal.ts"
import { type Output, singleOutput, tableOutput } from "./Batch/Outputs.ts"
import { checkTotals, type Files, type Order, writePass } from "./Batch/Pass.ts"
import { withReadBack } from "./Batch/ReadBack.ts"
import type { TableContext } from "./Batch/TableFiles.ts"
import { prepareTables } from "./Mapping/PreparedTables.ts"
import { closesWithin } from "./Request/Lineage.ts"
import { baseOnlyAccounts, chartAccounts, readAccounts } from "./Source/Accounts.ts"
import { opened } from "./Source/Balances.ts"
import { readFacts } from "./Source/BookFacts.ts"
import { baseComparison, nativeComparison } from "./Source/Comparison.ts"
import { type Difference, writeDifference } from "./Source/Difference.ts"
import { writeStatement } from "./Source/StatementCsv.ts"
import { baseSource, nativeSource } from "./Source.ts"

const sourceOf = Effect.fn("Export.source")(function* ({ base, book, selection }: Shared) {
  const { asOf } = selection
  const accounts = yield* readAccounts(book.bookId, asOf)
  if (base === undefined) return yield* nativeSource(book, selection, accounts)
  if (asOf === null) {
    return yield* baseSource(book, selection, accounts, yield* baseOnlyAccounts(book.bookId))
  }
  yield* valueThen(book, selection, base, asOf, true)
  return yield* baseSource(book, selection, accounts, chartAccounts(book.code, base))
})

/** Of an export of a time, what is said otherwise now; how many rates that lacks, where it cannot be said. */
const comparisonOf = Effect.fn("Export.comparisonOf")(function* ({ base, book, selection }: Shared) {
  if (selection.asOf === null) return { comparison: null, lackingRates: 0 }
  const comparison =
    base === undefined
      ? yield* nativeComparison(book, selection, selection.asOf)
      : yield* baseComparison(book, selection, base)
  return typeof comparison === "number"
    ? { comparison: null, lackingRates: comparison }
    : { comparison, lackingRates: 0 }
})

/** A batch on its way, with the accounting systems' formats that it holds. */
interface Part {
  readonly plan: BatchPlan
  readonly folder: Folder
  readonly contexts: ReadonlyArray<TableContext>
}

const outputsOf = Effect.fn("Export.outputsOf")(function* (
  { contexts, folder, plan }: Part,
  context: FormatContext,
  alongside: ReadonlyArray<SingleFile>,
  order: Order,
) {
  const own = [...plainsOf(plan.formats), ...alongside].filter((format) => format.order === order)
  const outputs = yield* Effect.forEach(own, (format) => singleOutput(folder, format, context))
  return order === "date" ? [...outputs, ...contexts.map((table) => tableOutput(folder, table))] : outputs
})

/** By the formats' order, then what stands beside them. */
const inOrder = ({ contexts, plan }: Part, alongside: ReadonlyArray<SingleFile>, files: Files) => {
  const beside = [
    ...contexts.flatMap(({ accountFiles }) => accountFiles),
    ...alongside,
    besides.rateDifferences,
    besides.summaryEntries,
  ]
  const names = [...plan.formats, ...beside.map(({ name }) => name)]
  return names.flatMap((name) => files.filter((file) => file.format === name))
}

const writeFiles = Effect.fn("Export.writeFiles")(function* (
  shared: Shared,
  batches: ReadonlyArray<{ readonly plan: BatchPlan; readonly folder: Folder }>,
) {
  const { book, options, selection } = shared
  const source = yield* sourceOf(shared)
  const balances = opened(source.accounts, source.opening)
  const facts = yield* readFacts(book.bookId, selection.to)
  const context: FormatContext = {
    book: { code: book.code, name: book.name },
    scope: selection.text,
    from: selection.from,
    accounts: balances,
  }
  const formats = batches.flatMap(({ plan }) => plan.formats)
  const { contexts, mappingVersion } = yield* prepareTables(
    book,
    selection,
    source,
    tablesOf(formats),
    options,
    selection.asOf ?? facts.createdAt,
    bankStatementsOf(formats),
  )
  const parts = batches.map(({ folder, plan }): Part => {
    const own: ReadonlyArray<string> = plan.formats
    return { plan, folder, contexts: contexts.filter(({ profile }) => own.includes(profile.name)) }
  })
  const outputs = new Map<Part, Array<Output>>(parts.map((part) => [part, []]))
  const outputsBy = (order: Order) =>
    Effect.map(
      Effect.forEach(parts, (part) =>
        Effect.tap(outputsOf(part, context, source.alongside, order), (made) =>
          Effect.sync(() => outputs.get(part)?.push(...made)),
        ),
      ),
      (made) => made.flat(),
    )
  const hasTables = contexts.length > 0
  const byNumber = yield* outputsBy("number")
  const byDate = yield* outputsBy("date")
  const inOnePass = byDate.length > 0 && (yield* source.numberedByDate)
  const { files, omitted, through, totals } = yield* inOnePass
    ? writePass(source, "both", [...byNumber, ...byDate], hasTables)
    : writePass(source, "number", byNumber, false)
  yield* checkTotals(balances, source.closing, totals)
  const dated =
    inOnePass || byDate.length === 0
      ? new Map<Output, Files>()
      : (yield* writePass(source, "date", byDate, hasTables)).files
  const { leaveOut, personalData } = options.settings
  const { createdAt } = facts
  const closes = yield* closesWithin(book.bookId, selection)
  const { comparison, lackingRates } = yield* comparisonOf(shared)
  const made: Array<{
    folder: Folder
    manifest: Manifest
    difference: Difference | null
    lackingRates: number
  }> = []
  let { previous } = shared
  for (const part of parts) {
    const { folder, plan } = part
    const statement =
      needsStatement(plan.formats) && plan.base === undefined
        ? yield* writeStatement(folder, book, selection, balances, totals)
        : undefined
    const banks = yield* Effect.forEach(bankStatementsOf(plan.formats), (format) =>
      writeBankStatements(folder, format, {
        ...{ book, batch: plan.batch, selection, createdAt, leaveOut, personalData, accounts: balances },
      }),
    )
    const written = (outputs.get(part) ?? []).flatMap(
      (output) => files.get(output) ?? dated.get(output) ?? [],
    )
    const own = inOrder(part, source.alongside, written)
    const difference = comparison === null ? null : yield* writeDifference(folder, comparison)
    const manifest = withReadBack(
      manifestOf(
        { ...plan, previous },
        facts,
        balances,
        totals,
        difference === null ? own : [...own, difference.file],
        through,
        mappingVersion,
        closes,
        source.base === undefined ? undefined : { ...source.base, omitted },
      ),
      balances,
      part.contexts,
      statement,
      banks,
    )
    made.push({ folder, manifest, difference: difference?.difference ?? null, lackingRates })
    previous = { batch: manifest.batch, manifestSha256: sha256Of(printManifest(manifest)) }
  }
  return made
})

/**
 * Writes the batches' files and manifests, each into its own folder, from one snapshot. Their numbers follow each other. A folder
 * goes away with the scope unless it is kept.
 */
export const writeBatches = Effect.fn("Export.writeBatches")(function* (
  shared: Shared,
  batches: ReadonlyArray<{ readonly part: BatchPart; readonly path: string }>,
) {
  const database = yield* Database
  const opened = yield* Effect.forEach(batches, ({ part, path }) =>
    Effect.map(openFolder(path), (folder) => ({ plan: { ...shared, ...part }, folder })),
  )
  const made = yield* database.transaction(writeFiles(shared, opened), {
    isolation: "repeatable read",
    // The base-currency journal of a time is made in temporary tables.
    readOnly: shared.base === undefined || shared.selection.asOf === null,
  })
  for (const { folder, manifest } of made) {
    yield* folder.publish(manifest.files.map(({ name }) => name))
    const file = yield* folder.create(manifestFile)
    yield* file.write(encode(printManifest(manifest), "utf-8"))
    yield* file.finish
    yield* folder.publish([manifestFile])
  }
  return made
})
