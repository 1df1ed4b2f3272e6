/** Writes the files of one batch of one book, from one repeatable-read snapshot, with memory that does not grow. */
import { Effect, Stream } from "effect"
import { Database } from "../Database.ts"
import { besides } from "../Format/Besides.ts"
import { encode } from "../Format/Encoding.ts"
import type { Entry, OpenedAccount } from "../Format/Entry.ts"
import type { FormatContext, SingleFile } from "../Format/Format.ts"
import { bankStatementsOf, needsStatement, plainsOf, tablesOf } from "../Format/Formats.ts"
import { RunningTotals } from "../Format/Totals.ts"
import { valueThen } from "../Valuation.ts"
import { writeBankStatements } from "./Batch/BankStatementFiles.ts"
import { type BatchPlan, manifestOf } from "./Batch/BatchManifest.ts"
import { type Folder, openFolder } from "./Batch/Folder.ts"
import { manifestFile } from "./Batch/Manifest.ts"
import { print as printManifest } from "./Batch/ManifestSeal.ts"
import { type Output, singleOutput, tableOutput } from "./Batch/Outputs.ts"
import { withReadBack } from "./Batch/ReadBack.ts"
import { exportError } from "./ExportError.ts"
import { prepareTables } from "./Mapping/PreparedTables.ts"
import { closesWithin } from "./Request/Lineage.ts"
import { baseOnlyAccounts, chartAccounts, readAccounts } from "./Source/Accounts.ts"
import { opened, type Sums } from "./Source/Balances.ts"
import { readFacts } from "./Source/BookFacts.ts"
import { baseComparison, nativeComparison } from "./Source/Comparison.ts"
import { writeDifference } from "./Source/Difference.ts"
import { writeStatement } from "./Source/StatementCsv.ts"
import { baseSource, nativeSource, type Source } from "./Source.ts"

const hasLines = ({ lines }: Entry): boolean => lines.length > 0

type Order = SingleFile["order"]

/** A file in the wrong order would be refused by who imports it: that an entry stands there is no state of the books. */
const assertDates = (entries: ReadonlyArray<Entry>, since: string): string =>
  entries.reduce((last, { effectiveDate, number }) => {
    if (effectiveDate < last)
      throw new Error(`${number} of ${effectiveDate} stands after an entry of ${last}`)
    return effectiveDate
  }, since)

/** Reads the entries once, hands each chunk to every output, and finishes the files. */
const writePass = Effect.fn("Export.writePass")(function* (
  source: Source,
  order: Order | "both",
  outputs: ReadonlyArray<Output>,
  withPayments: boolean,
) {
  const totals = new RunningTotals()
  let lastDate = ""
  let through = 0n
  let omitted = 0
  let begun = false
  const begin = (firstDate: string | undefined) => {
    begun = true
    return Effect.forEach(outputs, (output) => output.begin(firstDate), { discard: true })
  }
  const by = order === "date" ? "date" : "number"
  yield* Stream.runForEach(source.entries(by, withPayments), ({ entries, numbering }) =>
    Effect.gen(function* () {
      if (!begun) yield* begin(entries[0]?.effectiveDate)
      const worth = entries.every(hasLines) ? entries : entries.filter(hasLines)
      omitted += entries.length - worth.length
      for (const entry of worth) totals.add(entry)
      if (order !== "number") lastDate = assertDates(worth, lastDate)
      if (numbering > through) through = numbering
      for (const output of outputs) yield* output.write(output.takesAll ? entries : worth)
    }),
  )
  if (!begun) yield* begin(undefined)
  const files = (yield* Effect.forEach(outputs, (output) => output.end(totals))).flat()
  return { totals, through, omitted, files }
})

/** The lines that were written must lead from the ledger's opening to its closing balances. */
const checkTotals = (accounts: ReadonlyArray<OpenedAccount>, closing: Sums, totals: RunningTotals) => {
  const wrong = accounts.find(({ account, opening }) => {
    const { debit, credit } = totals.of(account)
    return opening + debit - credit !== (closing.get(account) ?? 0n)
  })
  const uneven = totals.currencies().find(({ debit, credit }) => debit !== credit)
  if (wrong === undefined && uneven === undefined) return Effect.void
  const what =
    wrong === undefined
      ? `the debits and credits of ${uneven?.currency}`
      : `the postings of account ${wrong.account.code} (${wrong.account.name}, ${wrong.account.currency}) and its balances`
  return exportError(
    "Disagrees",
    `In the ledger, ${what} do not agree: run \`tieout reconcile --full\`. Nothing was written.`,
  )
}

const sourceOf = Effect.fn("Export.source")(function* ({ base, book, selection }: BatchPlan) {
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
const differenceOf = Effect.fn("Export.differenceOf")(function* (
  { base, book, selection }: BatchPlan,
  folder: Folder,
) {
  if (selection.asOf === null) return { written: null, lackingRates: 0 }
  const comparison =
    base === undefined
      ? yield* nativeComparison(book, selection, selection.asOf)
      : yield* baseComparison(book, selection, base)
  return typeof comparison === "number"
    ? { written: null, lackingRates: comparison }
    : { written: yield* writeDifference(folder, comparison), lackingRates: 0 }
})

const writeFiles = Effect.fn("Export.writeFiles")(function* (plan: BatchPlan, folder: Folder) {
  const { book, selection } = plan
  const source = yield* sourceOf(plan)
  const balances = opened(source.accounts, source.opening)
  const facts = yield* readFacts(book.bookId, selection.to)
  const context: FormatContext = {
    book: { code: book.code, name: book.name },
    scope: selection.text,
    from: selection.from,
    accounts: balances,
  }
  const wanted = [...plainsOf(plan.formats), ...source.alongside]
  const { contexts, mappingVersion } = yield* prepareTables(
    book,
    selection,
    source,
    tablesOf(plan.formats),
    plan.options,
    selection.asOf ?? facts.createdAt,
    bankStatementsOf(plan.formats),
  )
  const outputsBy = Effect.fnUntraced(function* (order: Order) {
    const own = wanted.filter((format) => format.order === order)
    const outputs = yield* Effect.forEach(own, (format) => singleOutput(folder, format, context))
    return order === "date" ? [...outputs, ...contexts.map((table) => tableOutput(folder, table))] : outputs
  })
  const hasTables = contexts.length > 0
  const byNumber = yield* outputsBy("number")
  const byDate = yield* outputsBy("date")
  const inOnePass = byDate.length > 0 && (yield* source.numberedByDate)
  const { files, omitted, through, totals } = yield* inOnePass
    ? writePass(source, "both", [...byNumber, ...byDate], hasTables)
    : writePass(source, "number", byNumber, false)
  yield* checkTotals(balances, source.closing, totals)
  const dated =
    inOnePass || byDate.length === 0 ? [] : (yield* writePass(source, "date", byDate, hasTables)).files
  const statement =
    needsStatement(plan.formats) && plan.base === undefined
      ? yield* writeStatement(folder, book, selection, balances, totals)
      : undefined
  const { leaveOut, personalData } = plan.options.settings
  const { createdAt } = facts
  const banks = yield* Effect.forEach(bankStatementsOf(plan.formats), (format) =>
    writeBankStatements(folder, format, {
      ...{ book, batch: plan.batch, selection, createdAt, leaveOut, personalData, accounts: balances },
    }),
  )
  const beside = [
    ...contexts.flatMap(({ accountFiles }) => accountFiles),
    ...source.alongside,
    besides.rateDifferences,
    besides.summaryEntries,
  ]
  const names = [...plan.formats, ...beside.map(({ name }) => name)]
  const inOrder = names.flatMap((name) => [...files, ...dated].filter((file) => file.format === name))
  const closes = yield* closesWithin(book.bookId, selection)
  const { lackingRates, written } = yield* differenceOf(plan, folder)
  const all = written === null ? inOrder : [...inOrder, written.file]
  const manifest = manifestOf(
    plan,
    facts,
    balances,
    totals,
    all,
    through,
    mappingVersion,
    closes,
    source.base === undefined ? undefined : { ...source.base, omitted },
  )
  return {
    manifest: withReadBack(manifest, balances, contexts, statement, banks),
    difference: written?.difference ?? null,
    lackingRates,
  }
})

/**
 * Writes a batch's files and its manifest into `path`, from one snapshot. The folder goes away with the scope unless it
 * is kept.
 */
export const writeBatch = Effect.fn("Export.writeBatch")(function* (plan: BatchPlan, path: string) {
  const database = yield* Database
  const folder = yield* openFolder(path)
  const { manifest, ...made } = yield* database.transaction(writeFiles(plan, folder), {
    isolation: "repeatable read",
    // The base-currency journal of a time is made in temporary tables.
    readOnly: plan.base === undefined || plan.selection.asOf === null,
  })
  yield* folder.publish(manifest.files.map(({ name }) => name))
  const file = yield* folder.create(manifestFile)
  yield* file.write(encode(printManifest(manifest), "utf-8"))
  yield* file.finish
  yield* folder.publish([manifestFile])
  return { folder, manifest, ...made }
})
