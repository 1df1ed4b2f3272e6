/** Writes the files of one batch of one book, from one repeatable-read snapshot, with memory that does not grow. */
import { Effect, Stream } from "effect"
import type { Book } from "../Book.ts"
import { Database } from "../Database.ts"
import {
  type BookAccounts,
  balancesAsOf,
  balancesBefore,
  opened,
  readAccounts,
  type Sums,
  selectedSums,
} from "./Balances.ts"
import { type BatchPlan, manifestOf } from "./BatchManifest.ts"
import { writeDifference } from "./Difference.ts"
import { encode } from "./Encoding.ts"
import { streamEntries } from "./Entries.ts"
import type { OpenedAccount } from "./Entry.ts"
import { exportError } from "./ExportError.ts"
import { readFacts } from "./Facts.ts"
import { type Folder, openFolder } from "./Folder.ts"
import type { FormatContext } from "./Format.ts"
import { isTable, needsStatement, singles } from "./Formats.ts"
import { closesWithin } from "./Lineage.ts"
import { manifestFile, print as printManifest } from "./Manifest.ts"
import { type Output, singleOutput, tableOutput } from "./Outputs.ts"
import { shiftDate } from "./PlainText.ts"
import { withReadBack } from "./ReadBack.ts"
import type { Selection } from "./Scope.ts"
import { writeStatement } from "./Statement.ts"
import { prepareTables } from "./Tables.ts"
import { RunningTotals } from "./Totals.ts"

/** Reads the entries once, hands each chunk to every output, and finishes the files. */
const writePass = Effect.fn("Export.writePass")(function* (
  book: Book,
  selection: Selection,
  order: "number" | "date",
  accounts: BookAccounts,
  outputs: ReadonlyArray<Output>,
) {
  const totals = new RunningTotals()
  let through = 0n
  let begun = false
  const begin = (firstDate: string | undefined) => {
    begun = true
    return Effect.forEach(outputs, (output) => output.begin(firstDate), { discard: true })
  }
  yield* Stream.runForEach(streamEntries(book, selection, order, accounts), ({ entries, numbering }) =>
    Effect.gen(function* () {
      if (!begun) yield* begin(entries[0]?.effectiveDate)
      for (const entry of entries) totals.add(entry)
      if (numbering > through) through = numbering
      for (const output of outputs) yield* output.write(entries)
    }),
  )
  if (!begun) yield* begin(undefined)
  const files = (yield* Effect.forEach(outputs, (output) => output.end(totals))).flat()
  return { totals, through, files }
})

/** Of the entries dated before a day that the selection may know. */
const balancesOf = (book: Book, { asOf }: Selection, day: string, accounts: BookAccounts) =>
  asOf === null ? balancesBefore(book.bookId, day, accounts) : balancesAsOf(book.bookId, day, accounts, asOf)

const openings = Effect.fn("Export.openings")(function* (
  book: Book,
  selection: Selection,
  accounts: BookAccounts,
  closing: Sums,
) {
  if (selection.since === null && selection.covered.length === 0)
    return yield* balancesOf(book, selection, selection.from ?? "-infinity", accounts)
  // Everything but the news: without reading the history again.
  const news = yield* selectedSums(book.bookId, selection, accounts)
  return new Map(
    accounts.ordered.map((account) => [account, (closing.get(account) ?? 0n) - (news.get(account) ?? 0n)]),
  )
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

const writeFiles = Effect.fn("Export.writeFiles")(function* (plan: BatchPlan, folder: Folder) {
  const { book, selection } = plan
  const accounts = yield* readAccounts(book.bookId, selection.asOf)
  const until = selection.to === null ? "infinity" : shiftDate(selection.to, 1)
  const closing = yield* balancesOf(book, selection, until, accounts)
  const openingSums = yield* openings(book, selection, accounts, closing)
  const balances = opened(accounts, openingSums)
  const facts = yield* readFacts(book.bookId, selection.to)
  const context: FormatContext = {
    book: { code: book.code, name: book.name },
    scope: selection.text,
    from: selection.from,
    accounts: balances,
  }
  const wanted = singles(plan.formats)
  const { contexts, mappingVersion } = yield* prepareTables(
    book.bookId,
    selection,
    plan.formats.filter(isTable),
    accounts,
    plan.options,
    selection.asOf ?? facts.createdAt,
  )
  const pass = Effect.fnUntraced(function* (order: "number" | "date") {
    const own = wanted.filter((format) => format.order === order)
    const outputs = yield* Effect.forEach(own, (format) => singleOutput(folder, format, context))
    const tables = order === "date" ? contexts.map((table) => tableOutput(folder, table)) : []
    return yield* writePass(book, selection, order, accounts, [...outputs, ...tables])
  })
  const { files, through, totals } = yield* pass("number")
  yield* checkTotals(balances, closing, totals)
  const byDate = contexts.length > 0 || wanted.some((format) => format.order === "date")
  const dated = byDate ? (yield* pass("date")).files : []
  const statement = needsStatement(plan.formats)
    ? yield* writeStatement(folder, book, selection, balances, totals)
    : undefined
  const inOrder = plan.formats.flatMap((name) => [...files, ...dated].filter((file) => file.format === name))
  const closes = yield* closesWithin(book.bookId, selection)
  const difference =
    selection.asOf === null ? null : yield* writeDifference(book, selection, selection.asOf, folder)
  const all = difference === null ? inOrder : [...inOrder, difference.file]
  const manifest = manifestOf(plan, facts, balances, totals, all, through, mappingVersion, closes)
  return {
    manifest: withReadBack(manifest, balances, contexts, statement),
    difference: difference?.difference ?? null,
  }
})

/**
 * Writes a batch's files and its manifest into `path`, from one snapshot. The folder goes away with the scope unless it
 * is kept.
 */
export const writeBatch = Effect.fn("Export.writeBatch")(function* (plan: BatchPlan, path: string) {
  const database = yield* Database
  const folder = yield* openFolder(path)
  const { difference, manifest } = yield* database.transaction(writeFiles(plan, folder), {
    isolation: "repeatable read",
    readOnly: true,
  })
  yield* folder.publish(manifest.files.map(({ name }) => name))
  const file = yield* folder.create(manifestFile)
  yield* file.write(encode(printManifest(manifest), "utf-8"))
  yield* file.finish
  yield* folder.publish([manifestFile])
  return { folder, manifest, difference }
})
