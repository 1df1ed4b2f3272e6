/**
 * Reads what a book's batches of one selection are written from, in the caller's repeatable-read transaction. The entries of a
 * large book are read while they are written, with flat memory; small books are all read at once, with one statement for all of
 * them.
 */
import { Effect } from "effect"
import { type ByBook, byBook, ofBook } from "../Book/ByBook.ts"
import { bankStatementsOf, type FormatName, needsStatement, tablesOf } from "../Format/Formats.ts"
import { valueThen } from "../Valuation.ts"
import type { Shared } from "./Batch/Manifest/BatchManifest.ts"
import type { Lineage } from "./Batch/Manifest/Lineage.ts"
import type { TableContext } from "./Batch/TableFiles/TableContext.ts"
import { newestMappings, type StoredMapping } from "./Mapping/KeptMappings.ts"
import { namesDays, prepareTables } from "./Mapping/PreparedTables.ts"
import { renamedRows } from "./Mapping/Renamed.ts"
import { type Days, daysOf } from "./Request/Days.ts"
import type { Selection } from "./Request/ExportScope.ts"
import { closesWithin } from "./Request/Lineage.ts"
import { baseOnlyAccounts, chartAccounts, type JournalAccounts, readAccounts } from "./Source/Accounts.ts"
import { type BankRow, bankRowsOfBooks, streamBankRows } from "./Source/BankStatements.ts"
import { type Facts, factsOfBooks } from "./Source/BookFacts.ts"
import { type Chunks, heldChunks, streamedChunks } from "./Source/Chunks.ts"
import { heldSources } from "./Source/Held.ts"
import { type StatementRow, statementsOfBooks, streamStatement } from "./Source/StatementCsv.ts"
import { baseSource, inBaseJournal, nativeSource, type Source } from "./Source.ts"

/** What is read of a book for its batches. */
export interface BookInput {
  readonly source: Source
  readonly facts: Facts
  /** The accounting systems' formats of all batches. */
  readonly contexts: ReadonlyArray<TableContext>
  readonly mappingVersion: number | null
  readonly closes: Lineage["closes"]
  readonly statement: Chunks<ReadonlyArray<StatementRow>>
  readonly bankRows: Chunks<ReadonlyArray<BankRow>>
}

/** A book with the formats of its batches. */
export interface Asked extends Omit<Shared, "previous"> {
  readonly formats: ReadonlyArray<FormatName>
}

/** What the formats of some books need beside the entries. */
const needsOf = (asked: ReadonlyArray<Asked>) => {
  const formats = asked.flatMap((one) => one.formats)
  const tables = tablesOf(formats)
  const banks = bankStatementsOf(formats).length > 0
  return {
    mapping: banks || tables.length > 0,
    days: namesDays(tables),
    payments: tables.length > 0,
    statement: needsStatement(formats),
    banks,
  }
}

const idsOf = (asked: ReadonlyArray<Asked>): ReadonlyArray<number> => asked.map(({ book }) => book.bookId)

/** In the base currency, in which each book is read alone, a month ends with its revaluation, whatever its last day with an entry. */
const daysOfAsked = Effect.fn("Export.daysOfAsked")(function* (
  asked: ReadonlyArray<Asked>,
  selection: Selection,
) {
  const [inBase] = asked.filter(({ base }) => base !== undefined)
  const read =
    inBase === undefined
      ? ({ journal: "native", scope: selection } as const)
      : yield* inBaseJournal(inBase.book.bookId, selection)
  return yield* daysOf(idsOf(asked), selection, read)
})

const calledNow = (
  stored: StoredMapping | undefined,
  { nativeOf, ordered }: JournalAccounts,
): StoredMapping | null =>
  stored === undefined ? null : { ...stored, rows: renamedRows(stored.rows, ordered.map(nativeOf)) }

/** By book: the manifests' facts beside the figures, and what the accounting systems' formats need. */
const readBeside = Effect.fn("Export.readBeside")(function* (
  asked: ReadonlyArray<Asked>,
  selection: Selection,
  sources: ReadonlyMap<number, Parameters<typeof prepareTables>[2]>,
) {
  const ids = idsOf(asked)
  const needs = needsOf(asked)
  const facts = yield* factsOfBooks(ids, selection.to, selection.asOf)
  const closes = yield* closesWithin(ids, selection)
  const mappings = needs.mapping
    ? yield* newestMappings(ids, selection.asOf)
    : new Map<number, StoredMapping>()
  const days = needs.days ? yield* daysOfAsked(asked, selection) : new Map<number, Days | null>()
  const prepared = yield* Effect.forEach(asked, ({ book, formats, options }) => {
    const { bookId } = book
    const own = ofBook(facts, bookId)
    const source = ofBook(sources, bookId)
    const found = {
      stored: calledNow(mappings.get(bookId), source.accounts),
      days: days.get(bookId) ?? null,
      createdAt: selection.asOf ?? own.createdAt,
      createdOn: own.createdOn,
    }
    return Effect.map(
      prepareTables(book, selection, source, tablesOf(formats), options, found, bankStatementsOf(formats)),
      (tables) => ({ bookId, ...tables, facts: own, closes: closesOf(closes, bookId) }),
    )
  })
  return new Map(prepared.map((one) => [one.bookId, one]))
})

const closesOf = (
  closes: ByBook<Lineage["closes"][number] & { readonly bookId: number }>,
  bookId: number,
): Lineage["closes"] => closes.of({ bookId }).map(({ bookId: _, ...close }) => close)

const sourceOf = Effect.fn("Export.source")(function* ({ base, book, selection }: Asked) {
  const { asOf } = selection
  const accounts = yield* readAccounts(book.bookId, asOf)
  if (base === undefined) return yield* nativeSource(book, selection, accounts)
  if (asOf === null) {
    return yield* baseSource(book, selection, accounts, yield* baseOnlyAccounts(book.bookId))
  }
  yield* valueThen(book, selection, base, asOf, true)
  return yield* baseSource(book, selection, accounts, chartAccounts(book.code, base))
})

/** One book, whose entries are read while they are written. */
export const readAlone = Effect.fn("Export.readAlone")(function* (asked: Asked) {
  const { book, options, selection } = asked
  const { bookId } = book
  const source = yield* sourceOf(asked)
  const beside = ofBook(yield* readBeside([asked], selection, new Map([[bookId, source]])), bookId)
  const input: BookInput = {
    source,
    ...beside,
    statement: streamedChunks(streamStatement(bookId, selection)),
    bankRows: streamedChunks(streamBankRows({ bookId, leaveOut: options.settings.leaveOut }, selection)),
  }
  return input
})

/** Small books of one selection in their own currencies: everything at once, by book. */
export const readTogether = Effect.fn("Export.readTogether")(function* (
  asked: ReadonlyArray<Asked>,
  selection: Selection,
) {
  const needs = needsOf(asked)
  const ids = idsOf(asked)
  const held = yield* heldSources(
    asked.map(({ book }) => book),
    selection,
  )
  const beside = yield* readBeside(asked, selection, held.sources)
  const statements = needs.statement ? yield* statementsOfBooks(ids, selection) : byBook<StatementRow>([])
  const banks = asked.map(({ book: { bookId }, options: { settings } }) => ({
    ...{ bookId, leaveOut: settings.leaveOut },
  }))
  const bankRows = needs.banks ? yield* bankRowsOfBooks(banks, selection) : byBook<BankRow>([])
  const withEntries = yield* held.withEntries(needs.payments)
  return new Map(
    asked.map(({ book }): readonly [number, BookInput] => [
      book.bookId,
      {
        source: ofBook(withEntries, book.bookId),
        ...ofBook(beside, book.bookId),
        statement: heldChunks([statements.of(book)]),
        bankRows: heldChunks([bankRows.of(book)]),
      },
    ]),
  )
})
