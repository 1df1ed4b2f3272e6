/** Writes the books as files that accountants import: numbered, checksummed batches in a folder. */
import { Chunk, Effect, Logger, LogLevel, Option } from "effect"
import type { ArchivedError } from "./Book/Archived.ts"
import { chooseBooks, type UnknownBook } from "./Book/ChosenBooks.ts"
import { allBooks, type Book } from "./Book.ts"
import { inStage } from "./Common/Progress.ts"
import { count, counted } from "./Common/Text.ts"
import type { DatabaseError } from "./Database/DatabaseError.ts"
import { Database } from "./Database.ts"
import { type Exported, type ExportedBatch, plannedBooks, selectionAt } from "./Export/BookExport.ts"
import { partsWith, refuseAhead, withEntries } from "./Export/BooksWithEntries.ts"
import { refusalsOfBooks } from "./Export/ExportBooks.ts"
import { type ExportError, exportError, type Refusal, refused } from "./Export/ExportError.ts"
import { withoutIdleStatements } from "./Export/IdleStatements.ts"
import { booksAtOnce, exportSome, whatStays } from "./Export/LockedBooks.ts"
import { archivedDays, refuseArchivedDays } from "./Export/Request/ArchivedDays.ts"
import { checkBookSettings } from "./Export/Request/BookSettings.ts"
import { type Selection, selectionOf } from "./Export/Request/ExportScope.ts"
import { contentsOf } from "./Export/Request/Selected.ts"
import {
  checkChoices,
  checkFormats,
  defaults,
  type ExportRequest,
  partsOf,
  type RequestPart,
} from "./Export/Request.ts"
import { type Lacking, lackingOf, lackingSince } from "./Export/Source/LeftOutThen.ts"
import { settingsOf } from "./Format/FormatSettings.ts"
import type { AsOfError } from "./Ledger/AsOf.ts"
import { type OutdatedBatch, outdatedBatches } from "./Reconcile/OutdatedBatches.ts"
import type { ValuationError } from "./Valuation/ValuationError.ts"
import type { ValuationOptions } from "./Valuation/ValuedBook.ts"
import { value, valueThen } from "./Valuation.ts"

/** A standing batch in the base currency that an export would now write differently. */
export interface Outdated extends Omit<OutdatedBatch, "bookId"> {
  readonly book: string
}

export interface ExportSummary {
  readonly batches: ReadonlyArray<ExportedBatch>
  /** Codes of books without anything new, with `since-last` only. */
  readonly unchanged: ReadonlyArray<string>
  /** Codes of books without any entry of the selection: nothing was written of them. */
  readonly empty: ReadonlyArray<string>
  /** Accounting systems' formats without anything new; they are exported again only with `again`. */
  readonly exported: ReadonlyArray<Exported>
  /** Batches without currencies that the settings no longer leave out, of those that have what was asked for or that a new one continues. */
  readonly lacking: ReadonlyArray<Lacking>
  /** After an export in the base currency: the batches that are now out of date. */
  readonly outdated: ReadonlyArray<Outdated>
  readonly complete: boolean
}

/** If one of several books lacks rates as of that time, none is written. */
const checkThen = Effect.fn("Export.checkThen")(function* (
  books: ReadonlyArray<Book>,
  selection: Selection,
  base: ValuationOptions,
  request: ExportRequest,
) {
  const database = yield* Database
  for (const book of books) {
    const asOfSelection = yield* selectionAt(book, selection, request)
    if (asOfSelection !== null && asOfSelection.asOf !== null) {
      yield* database.transaction(valueThen(book, asOfSelection, base, asOfSelection.asOf, false))
    }
  }
})

/** The parts of each book that would be written. */
const askedParts = Effect.fn("Export.askedParts")(function* (
  books: ReadonlyArray<Book>,
  selection: Selection | null,
  parts: ReadonlyArray<RequestPart>,
  request: ExportRequest,
) {
  const asked = yield* partsWith(books, selection, parts)
  return yield* withoutIdleStatements(asked, selection, request.perFormat === true)
})

/** Why a book that has just been valued cannot be written, in the transaction of its valuation. */
const refusalsThen = Effect.fn("Export.refusalsThen")(
  function* (book: Book, selection: Selection, parts: ReadonlyArray<RequestPart>, request: ExportRequest) {
    const contents = yield* contentsOf([book.bookId], selection, true)
    if (contents.get(book.bookId)?.holds !== true) return []
    const { asked } = yield* askedParts([book], selection, parts, request)
    return yield* refusalsOfBooks(asked, selection, request)
  },
  // What is not possible for another reason is said by the export itself, and so are its warnings.
  Effect.catchIf(
    (error) => error._tag !== "DatabaseError",
    () => Effect.succeed<ReadonlyArray<Refusal>>([]),
  ),
  Logger.withMinimumLogLevel(LogLevel.None),
)

/**
 * Brings the base-currency journal up to date, or says what it lacks, before anything is written. A book that its formats cannot
 * hold is not valued, since a closed month keeps its first valuation.
 */
const valued = Effect.fn("Export.valued")(function* (
  books: ReadonlyArray<Book>,
  selection: Selection | null,
  base: ValuationOptions,
  parts: ReadonlyArray<RequestPart>,
  request: ExportRequest,
) {
  if (selection === null) {
    return yield* exportError(
      "Usage",
      "The base-currency journal cannot be exported since the last time: its open months change as a whole. Name a period.",
    )
  }
  // An as-of journal is made beside the kept one and leaves that unchanged.
  if (request.asOf === undefined) {
    const refusals: Array<Refusal> = []
    let refusedBooks = 0
    yield* value(books, selection.to === null ? null : selection.to.slice(0, 7), base, (book) =>
      Effect.map(refusalsThen(book, selection, parts, request), (found) => {
        refusals.push(...found)
        if (found.length > 0) refusedBooks += 1
        return found.length === 0
      }),
    )
    if (refusals.length > 0)
      return yield* refused(refusals, books.length > 1 && refusedBooks === books.length)
  } else if (books.length > 1) yield* checkThen(books, selection, base, request)
})

/**
 * Exports each chosen book into a batch folder of its own. Number the books' entries first (`Ledger.assignNumbers`):
 * entries without a journal number are left out, and the manifest says so. Books before a failing one stay committed.
 */
export const run = Effect.fn("Export.run")(function* (
  request: ExportRequest,
): Effect.fn.Return<
  ExportSummary,
  ExportError | ArchivedError | AsOfError | UnknownBook | ValuationError | DatabaseError,
  Database
> {
  const formats = yield* checkFormats(request.formats)
  const selection = yield* selectionOf(request.scope)
  const books = yield* chooseBooks(request.connection, request.book)
  yield* checkChoices(request)
  const parts = partsOf(formats, request)
  const { settings } = request.tables ?? defaults
  const known = yield* allBooks(Option.none())
  if (selection !== null) {
    const archives = yield* archivedDays(books.map(({ bookId }) => bookId))
    for (const archived of archives.values()) {
      if (selection.to !== null && selection.to <= archived.lastDay) {
        yield* refuseArchivedDays(selection, archived)
      }
    }
  }
  if (request.base !== undefined) {
    if (selection !== null) {
      const held = yield* refuseAhead(books, selection)
      yield* checkBookSettings(settings, held, known, formats)
      // A closed month keeps its first valuation for good: what stands in the way of the export comes before it.
      if (request.asOf === undefined) {
        yield* plannedBooks(
          held.map((book) => ({ book, parts })),
          selection,
          request,
        )
      }
    }
    yield* valued(books, selection, request.base, parts, request)
  }
  const { chosen, empty } = yield* withEntries(books, selection, parts, request)
  const moved = yield* checkBookSettings(settings, chosen, known, formats)
  const isWhole = request.again === true && request.scope.kind === "all"
  if (request.asOf === undefined && !isWhole)
    yield* Effect.forEach(moved, (warning) => Effect.logWarning(warning), { discard: true })
  const batches: Array<ExportedBatch> = []
  const unchanged: Array<string> = []
  const exported: Array<Exported> = []
  const outdated: Array<Outdated> = []
  const lacking: Array<Lacking> = []
  const { asked, idle } = yield* askedParts(chosen, selection, parts, request)
  // A request that is not possible in a later book is refused before the first books are committed.
  if (asked.length > booksAtOnce) yield* plannedBooks(asked, selection, request)
  let done = 0
  const portions = Effect.gen(function* () {
    for (const some of Chunk.chunksOf(Chunk.fromIterable(asked), booksAtOnce)) {
      const written = yield* exportSome(Chunk.toReadonlyArray(some), selection, request).pipe(
        Effect.tapError(() => whatStays(batches)),
      )
      for (const { book, ...made } of written) {
        batches.push(...made.batches)
        exported.push(...made.exported)
        const continued = made.batches.flatMap(({ manifest: { formats: own, lineage } }) =>
          lineage === undefined ? [] : [{ formats: own, batches: lineage.follows }],
        )
        // In the base currency nothing is left out.
        if (request.base === undefined) {
          const { leaveOut } = settingsOf(settings, book.code)
          lacking.push(
            ...(selection === null
              ? yield* lackingSince(book, made.batches[0]?.manifest.batch ?? null, formats, leaveOut)
              : yield* lackingOf(book, [...made.exported, ...continued], leaveOut)),
          )
        }
        if (request.base !== undefined && request.asOf === undefined) {
          for (const { bookId: _, ...one } of yield* outdatedBatches([book.bookId]))
            outdated.push({ book: book.code, ...one })
        }
        if (made.batches.length + made.exported.length === 0) unchanged.push(book.code)
      }
      done += some.length
    }
  })
  // Else the stages of its batches say how far it is.
  yield* asked.length > booksAtOnce
    ? inStage("export", () => `${count(done)} of ${counted(asked.length, "book")}`)(portions)
    : portions
  return {
    batches,
    unchanged,
    empty: [...empty, ...idle].toSorted(),
    exported,
    lacking,
    outdated,
    complete: batches.every(({ manifest }) => manifest.complete),
  }
})
