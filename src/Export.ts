/** Writes the books as files that accountants import: numbered, checksummed batches in a folder. */
import { Chunk, Effect, Option } from "effect"
import type { ArchivedError } from "./Book/Archived.ts"
import { chooseBooks, type UnknownBook } from "./Book/ChosenBooks.ts"
import { allBooks, type Book } from "./Book.ts"
import { count, counted } from "./Common/Text.ts"
import type { DatabaseError } from "./Database/DatabaseError.ts"
import { Database } from "./Database.ts"
import {
  type AskedBook,
  type Exported,
  type ExportedBatch,
  plannedBooks,
  selectionAt,
} from "./Export/BookExport.ts"
import { exportBooks, refusalsOfBooks } from "./Export/ExportBooks.ts"
import { ExportError, exportError, refused } from "./Export/ExportError.ts"
import { withoutIdleStatements } from "./Export/IdleStatements.ts"
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
import { type Lacking, lackingOf } from "./Export/Source/LeftOutThen.ts"
import { settingsOf } from "./Format/FormatSettings.ts"
import type { AsOfError } from "./Ledger/AsOf.ts"
import { type OutdatedBatch, outdatedBatches } from "./Reconcile/OutdatedBatches.ts"
import type { ValuationError } from "./Valuation/ValuationError.ts"
import type { ValuationOptions } from "./Valuation/ValuedBook.ts"
import { value, valueThen } from "./Valuation.ts"

/** A standing batch in the base currency that an export would now write differently. */
export interface Outdated extends OutdatedBatch {
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

/**
 * The books that have entries of the selection, and the codes of those that have none. Fails where none has: an empty batch
 * would take a number and say nothing. In the base currency this is asked once the books are valued, since that journal has
 * revaluations and their reversals even in a month without other entries.
 */
const withEntries = Effect.fn("Export.withEntries")(function* (
  books: ReadonlyArray<Book>,
  selection: Selection | null,
  request: ExportRequest,
) {
  // An as-of journal in the base currency is not there yet; its batch does not count anyway, so it may be empty.
  if (selection === null || (request.base !== undefined && request.asOf !== undefined)) {
    return { chosen: books, empty: [] }
  }
  const contents = yield* contentsOf(
    books.map(({ bookId }) => bookId),
    selection,
    request.base !== undefined,
  )
  const chosen = books.filter(({ bookId }) => contents.get(bookId)?.holds === true)
  const empty = books.filter(({ bookId }) => contents.get(bookId)?.holds !== true)
  if (chosen.length > 0) return { chosen, empty: empty.map(({ code }) => code) }
  const isAhead = empty.every(({ bookId }) => contents.get(bookId)?.ahead === true)
  const what = isAhead ? "lies ahead" : "has no entries"
  const codes = empty.map(({ code }) => code).join(", ")
  return yield* exportError(
    "Usage",
    selection.kind === "all"
      ? `Nothing is booked yet in ${codes}. Nothing was written.`
      : `${selection.text} ${what} in ${codes}. Nothing was written.`,
  )
})

/** Refuses a selection that lies ahead, before anything is valued for it. */
const refuseAhead = Effect.fn("Export.refuseAhead")(function* (
  books: ReadonlyArray<Book>,
  selection: Selection,
) {
  const contents = yield* contentsOf(
    books.map(({ bookId }) => bookId),
    selection,
  )
  if (books.length === 0 || books.some(({ bookId }) => contents.get(bookId)?.ahead !== true)) return
  const codes = books.map(({ code }) => code).join(", ")
  return yield* exportError("Usage", `${selection.text} lies ahead in ${codes}. Nothing was written.`)
})

/** Without the bank statements of a book that has no entries: the base-currency journal may have something nevertheless. */
const partsWith = Effect.fn("Export.partsWith")(function* (
  books: ReadonlyArray<Book>,
  selection: Selection | null,
  parts: ReadonlyArray<RequestPart>,
) {
  const inBase = parts.filter(({ base }) => base !== undefined)
  if (parts.length === 1 || selection === null) return books.map((book): AskedBook => ({ book, parts }))
  const ids = books.map(({ bookId }) => bookId)
  const contents = yield* contentsOf(ids, selection)
  const without = parts.filter(({ base }) => base === undefined).flatMap(({ formats }) => formats)
  return yield* Effect.forEach(books, (book) => {
    if (contents.get(book.bookId)?.holds === true) return Effect.succeed<AskedBook>({ book, parts })
    return Effect.as(
      Effect.logWarning(
        `${book.code} has no entries in ${selection.text}: ${without.join(", ")} is left out of it.`,
      ),
      { book, parts: inBase } satisfies AskedBook,
    )
  })
})

const anotherRuns = (book: Book) => () =>
  exportError("Busy", `Another export of the book ${book.code} runs: wait for it to finish, or stop it.`)

const isRefusal = (error: { readonly _tag: string }): error is ExportError =>
  error instanceof ExportError && error.refusals !== undefined

/** The request is not possible in one of the books; reported before anything is written. */
const isUsage = (error: { readonly _tag: string }): error is ExportError =>
  error instanceof ExportError && error.reason === "Usage"

/** Batches that a warning names. */
const mostStaying = 10

/** An error is all that is reported of an export of many books; what it has committed must be known, too. */
const whatStays = (made: ReadonlyArray<ExportedBatch>): Effect.Effect<void> => {
  if (made.length === 0) return Effect.void
  const named = made
    .slice(0, mostStaying)
    .map(({ folder, manifest }) => `${manifest.book.code}/${manifest.batch} (${folder})`)
  const more = made.length > mostStaying ? `, and ${count(made.length - mostStaying)} more` : ""
  return Effect.logWarning(
    `${counted(made.length, "batch", "batches")} of the books before the one that failed ${made.length === 1 ? "is committed and stays" : "are committed and stay"}: ${named.join(", ")}${more}. See: tieout batches list`,
  )
}

/** Books that are exported together: their batches are committed in one transaction. */
const booksAtOnce = 100

/**
 * Exports books together, under their locks. If some are refused, or the request is not possible in one, none is written, and
 * the error has the reasons of all. If one fails for another reason, each is exported by itself: those before the failing one
 * stay committed, and its error is reported.
 */
const exportSome = (
  asked: ReadonlyArray<AskedBook>,
  selection: Selection | null,
  request: ExportRequest,
): ReturnType<typeof exportBooks> =>
  Effect.flatMap(Database, (database) => {
    const locks = asked.map(({ book }) => ({ lock: `export ${book.bookId}`, shared: false }))
    const [first, ...more] = asked
    const tryLocks = request.preview === true ? database.tryLocksOfReader : database.tryLocks
    const underLocks = Effect.scoped(
      Effect.flatMap(tryLocks(...locks), ({ lost }) =>
        Effect.raceFirst(exportBooks(asked, selection, request), lost),
      ),
    ).pipe(
      Effect.catchIf(isRefusal, (error) =>
        Effect.flatMap(refusalsOfBooks(asked, selection, request), (refusals) =>
          refusals.length === 0
            ? error
            : refused(refusals, asked.length > 1 && refusals.length === asked.length),
        ),
      ),
    )
    if (first === undefined) return Effect.succeed([])
    if (more.length === 0) return Effect.catchTag(underLocks, "LockBusy", anotherRuns(first.book))
    return Effect.catchAll(underLocks, (error) =>
      error._tag === "DatabaseError" || isRefusal(error) || isUsage(error)
        ? Effect.fail(error)
        : oneByOne(asked, selection, request),
    )
  })

const oneByOne = Effect.fn("Export.oneByOne")(function* (
  asked: ReadonlyArray<AskedBook>,
  selection: Selection | null,
  request: ExportRequest,
): Effect.fn.Return<
  Effect.Effect.Success<ReturnType<typeof exportBooks>>,
  Effect.Effect.Error<ReturnType<typeof exportBooks>>,
  Database
> {
  const made: Array<Effect.Effect.Success<ReturnType<typeof exportBooks>>[number]> = []
  for (const one of asked) {
    made.push(
      ...(yield* exportSome([one], selection, request).pipe(
        Effect.tapError(() => whatStays(made.flatMap(({ batches }) => batches))),
      )),
    )
  }
  return made
})

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

/** Brings the base-currency journal up to date, or says what it lacks, before anything is written. */
const valued = Effect.fn("Export.valued")(function* (
  books: ReadonlyArray<Book>,
  selection: Selection | null,
  base: ValuationOptions,
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
    yield* value(books, selection.to === null ? null : selection.to.slice(0, 7), base)
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
  if (selection !== null) {
    const archives = yield* archivedDays(books.map(({ bookId }) => bookId))
    for (const archived of archives.values()) {
      if (selection.to !== null && selection.to <= archived.lastDay) {
        yield* refuseArchivedDays(selection, archived)
      }
    }
  }
  if (request.base !== undefined) {
    if (selection !== null) yield* refuseAhead(books, selection)
    yield* valued(books, selection, request.base, request)
  }
  const { chosen, empty } = yield* withEntries(books, selection, request)
  yield* checkBookSettings(settings, chosen, yield* allBooks(Option.none()), formats)
  const batches: Array<ExportedBatch> = []
  const unchanged: Array<string> = []
  const exported: Array<Exported> = []
  const outdated: Array<Outdated> = []
  const lacking: Array<Lacking> = []
  const { asked, idle } = yield* withoutIdleStatements(
    yield* partsWith(chosen, selection, parts),
    selection,
    request.perFormat === true,
  )
  // A request that is not possible in a later book is refused before the first books are committed.
  if (asked.length > booksAtOnce) yield* plannedBooks(asked, selection, request)
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
        lacking.push(...(yield* lackingOf(book, [...made.exported, ...continued], leaveOut)))
      }
      if (request.base !== undefined && request.asOf === undefined) {
        for (const one of yield* outdatedBatches(book.bookId)) outdated.push({ book: book.code, ...one })
      }
      if (made.batches.length + made.exported.length === 0) unchanged.push(book.code)
    }
  }
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
