/** Writes the files of one book's batches of one selection, from one repeatable-read snapshot and in one pass over its entries. */
import { Effect } from "effect"
import { accompanyingFiles } from "../Format/AccompanyingFiles.ts"
import { encode } from "../Format/Encoding.ts"
import type { FormatContext, SingleFile } from "../Format/Format.ts"
import { bankStatementsOf, needsStatement, plainsOf } from "../Format/Formats.ts"
import { writeBankStatements } from "./Batch/BankStatementFiles.ts"
import type { Folder } from "./Batch/Folder.ts"
import { type BatchPart, type BatchPlan, manifestOf, type Shared } from "./Batch/Manifest/BatchManifest.ts"
import { print as printManifest, sha256Of } from "./Batch/Manifest/ManifestSeal.ts"
import { withReadBack } from "./Batch/Manifest/ReadBackLayout.ts"
import { type Manifest, manifestFile } from "./Batch/Manifest.ts"
import { type Output, singleOutput, tableOutput } from "./Batch/Outputs.ts"
import { checkTotals, type Files, type Order, writePass } from "./Batch/Pass.ts"
import type { TableContext } from "./Batch/TableFiles/TableContext.ts"
import type { BookInput } from "./Reading.ts"
import { opened } from "./Source/Balances.ts"
import { baseComparison, nativeComparison } from "./Source/Comparison.ts"
import { type Difference, writeDifference } from "./Source/Difference.ts"
import { writeStatement } from "./Source/StatementCsv.ts"

/** Of an as-of export: what has changed since, or how many rates are missing to tell. */
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

/** In the formats' order; then the accompanying files. */
const inOrder = ({ contexts, plan }: Part, alongside: ReadonlyArray<SingleFile>, files: Files) => {
  const beside = [
    ...contexts.flatMap(({ accountFiles }) => accountFiles),
    ...alongside,
    accompanyingFiles.rateDifferences,
    accompanyingFiles.summaryEntries,
    accompanyingFiles.cancelledEntries,
  ]
  const names = [...plan.formats, ...beside.map(({ name }) => name)]
  return names.flatMap((name) => files.filter((file) => file.format === name))
}

/** A batch whose files have their partial names. */
export interface WrittenBatch {
  readonly folder: Folder
  readonly manifest: Manifest
  readonly difference: Difference | null
  readonly lackingRates: number
}

/**
 * Writes the files of the entries, of all batches. One pass over the entries is enough where their order by number is that by date.
 */
const writeEntries = Effect.fnUntraced(function* (
  { contexts, source }: BookInput,
  parts: ReadonlyArray<Part>,
  context: FormatContext,
) {
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
  yield* checkTotals(context.accounts, source.closing, totals)
  const dated =
    inOnePass || byDate.length === 0
      ? new Map<Output, Files>()
      : (yield* writePass(source, "date", byDate, hasTables)).files
  const filesOf = (part: Part): Files =>
    (outputs.get(part) ?? []).flatMap((output) => files.get(output) ?? dated.get(output) ?? [])
  return { filesOf, omitted, through, totals }
})

/**
 * Writes the batches' files, each batch into its own folder. The batches' numbers are consecutive. For a large book, part of
 * the transaction that reads it.
 */
export const writeFiles = Effect.fn("Export.writeFiles")(function* (
  shared: Shared,
  input: BookInput,
  batches: ReadonlyArray<{ readonly part: BatchPart; readonly folder: Folder }>,
) {
  const { book, options, selection } = shared
  const { closes, contexts, facts, mappingVersion, source } = input
  const balances = opened(source.accounts, source.opening)
  const context: FormatContext = {
    book: { code: book.code, name: book.name },
    scope: selection.text,
    from: selection.from,
    accounts: balances,
  }
  const parts = batches.map(({ folder, part }): Part => {
    const own: ReadonlyArray<string> = part.formats
    return {
      plan: { ...shared, ...part },
      folder,
      contexts: contexts.filter(({ profile }) => own.includes(profile.name)),
    }
  })
  const writeStatements = Effect.forEach(parts, ({ folder, plan }) =>
    needsStatement(plan.formats) && plan.base === undefined
      ? writeStatement(folder, book, input.statement, balances)
      : Effect.succeed(undefined),
  )
  // At once: one waits for the server while the other makes its lines.
  const [{ filesOf, omitted, through, totals }, statements] = yield* Effect.all(
    [writeEntries(input, parts, context), writeStatements],
    { concurrency: 2 },
  )
  const { personalData } = options.settings
  const { createdAt } = facts
  const { comparison, lackingRates } = yield* comparisonOf(shared)
  const made: Array<WrittenBatch> = []
  let { previous } = shared
  for (const [at, part] of parts.entries()) {
    const { folder, plan } = part
    const banks = yield* Effect.forEach(bankStatementsOf(plan.formats), (format) =>
      writeBankStatements(
        folder,
        format,
        { book, batch: plan.batch, createdAt, personalData, accounts: balances },
        input.bankRows,
      ),
    )
    const own = inOrder(part, source.alongside, filesOf(part))
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
      statements[at]?.(totals),
      banks,
    )
    made.push({ folder, manifest, difference: difference?.difference ?? null, lackingRates })
    previous = { batch: manifest.batch, manifestSha256: sha256Of(printManifest(manifest)) }
  }
  return made
})

/** Gives the files their names, and the folder its manifest, which says that it is whole. */
export const publishBatch = Effect.fn("Export.publishBatch")(function* ({ folder, manifest }: WrittenBatch) {
  yield* folder.publish(manifest.files.map(({ name }) => name))
  const file = yield* folder.create(manifestFile)
  yield* file.write(encode(printManifest(manifest), "utf-8"))
  yield* file.finish
  yield* folder.publish([manifestFile])
})
