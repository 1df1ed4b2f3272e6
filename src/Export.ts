/** Writes the books as files that accountants import: numbered, checksummed batches in a folder. */
import { join, resolve } from "node:path"
import { Effect, Option } from "effect"
import { chooseBooks, type UnknownBook } from "./Book/ChosenBooks.ts"
import { allBooks, type Book, bookFolder } from "./Book.ts"
import type { DatabaseError } from "./Database/DatabaseError.ts"
import { mayWrite } from "./Database/MayWrite.ts"
import { Database } from "./Database.ts"
import { commitBatches } from "./Export/Batch/Commit.ts"
import { clearLeftovers, markUnfinished } from "./Export/Batch/Leftovers.ts"
import type { Manifest } from "./Export/Batch/Manifest.ts"
import { writeBatches } from "./Export/Batch.ts"
import { type ExportError, exportError } from "./Export/ExportError.ts"
import type { TableOptions } from "./Export/Mapping/PreparedTables.ts"
import { checkBookSettings } from "./Export/Request/BookSettings.ts"
import { previousBatch } from "./Export/Request/Lineage.ts"
import { bySelection, type Plan, planBook } from "./Export/Request/Plans.ts"
import { type Selection, selectionOf } from "./Export/Request/Scope.ts"
import { contentOf } from "./Export/Request/Selected.ts"
import { checkChoices, checkFormats, type ExportRequest, optionsOf, timeZoneOf } from "./Export/Request.ts"
import { readFacts } from "./Export/Source/BookFacts.ts"
import type { Difference } from "./Export/Source/Difference.ts"
import { nativeBasis } from "./Format/Entry.ts"
import { settingsOf } from "./Format/FormatSettings.ts"
import type { FormatName } from "./Format/Formats.ts"
import { type AsOfError, asOfSuffix, resolveAsOf } from "./Ledger/AsOf.ts"
import { type OutdatedBatch, outdatedBatches } from "./Reconcile/OutdatedBatches.ts"
import type { ValuationError } from "./Valuation/ValuationError.ts"
import type { ValuationOptions } from "./Valuation/ValuedBook.ts"
import { value, valueThen } from "./Valuation.ts"

/** One committed batch. `manifest.complete` is false where something is known to be missing: exit code 3. */
export interface ExportedBatch {
  readonly folder: string
  readonly manifest: Manifest
  /** Of an export of what the books said at a time. */
  readonly difference: Difference | null
  /** Of one in the base currency: rates that lack for what it says now, so that there is no difference. */
  readonly lackingRates: number
}

/** Batches that have all of what was asked for already: nothing was written. */
export interface Exported {
  readonly book: string
  readonly formats: ReadonlyArray<string>
  readonly batches: ReadonlyArray<number>
}

/** A standing batch in the base currency that an export would not write like that any more. */
export interface Outdated extends OutdatedBatch {
  readonly book: string
}

export interface ExportSummary {
  readonly batches: ReadonlyArray<ExportedBatch>
  /** Codes of books without anything new, with `since-last` only. */
  readonly unchanged: ReadonlyArray<string>
  /** Codes of books without any entry of the selection: nothing was written of them. */
  readonly empty: ReadonlyArray<string>
  /** Accounting systems' formats without anything new: exported again only when asked for. */
  readonly exported: ReadonlyArray<Exported>
  /** Of an export in the base currency, after it. */
  readonly outdated: ReadonlyArray<Outdated>
  readonly complete: boolean
}

/** Batches of one selection: marked, written in one pass, committed in one transaction, kept. All of them or none. */
const exportBatches = Effect.fn("Export.batches")(function* (
  book: Book,
  selection: Selection,
  plans: ReadonlyArray<Plan>,
  request: ExportRequest,
  options: TableOptions,
) {
  const { out } = request
  const previous = yield* previousBatch(book.bookId)
  const first = (previous?.batch ?? 0) + 1
  const state = request.preview === true ? ("preview" as const) : ("committed" as const)
  const currencyBasis = request.base?.baseCurrency ?? nativeBasis
  const batches = plans.map(({ delta, follows, formats, supersedes }, at) => {
    const place = join(bookFolder(book), selection.text, String(first + at))
    const part = {
      batch: first + at,
      formats,
      lineage: { state, currencyBasis, delta, follows, supersedes },
    }
    return { part, place, path: resolve(out, place) }
  })
  const mark = yield* markUnfinished(
    resolve(out, bookFolder(book)),
    selection.text,
    batches.map(({ part }) => part.batch),
  )
  const written = yield* writeBatches({ book, selection, options, base: request.base, previous }, batches)
  const made = written.map(({ folder, ...rest }, at) => {
    const place = batches[at]?.place ?? folder.path
    return { folder, place, exported: { folder: join(out, place), ...rest } satisfies ExportedBatch }
  })
  const keep = Effect.forEach(made, ({ folder }) => folder.keep, { discard: true })
  const exported = made.map((one) => one.exported)
  if (request.preview === true && !(yield* mayWrite())) {
    yield* Effect.logWarning(
      "The database may only be read here: it does not know of this preview, which cannot be committed.",
    )
    yield* keep
    return exported
  }
  const withFiles = request.keepFiles !== false && request.preview !== true
  const commits = made.map(({ exported: { manifest }, folder, place }) => {
    const keepFrom = withFiles ? folder.path : null
    return { commit: { bookId: book.bookId, place, keepFrom, who: request.who ?? "the schedule" }, manifest }
  })
  yield* Effect.uninterruptibleMask((restore) =>
    commitBatches(commits, restore).pipe(
      // An answer that was lost may have been a yes: committed batches must have their folders. The marker stays, for the next run.
      Effect.tapError((error) =>
        error.reason === "Unreachable" ? Effect.zipRight(mark.leave, keep) : Effect.void,
      ),
      Effect.zipLeft(keep),
    ),
  )
  return exported
}, Effect.scoped)

/** The selection as the books stood at the time that was asked for. */
const selectionAt = Effect.fn("Export.selectionAt")(function* (
  book: Book,
  selection: Selection | null,
  request: ExportRequest,
) {
  if (selection === null || request.asOf === undefined) return selection
  const at = yield* resolveAsOf(request.asOf, book.bookId, timeZoneOf(request))
  return { ...selection, text: `${selection.text}${asOfSuffix(at)}`, asOf: at } satisfies Selection
})

const exportBook = Effect.fn("Export.book")(function* (
  book: Book,
  scope: Selection | null,
  formats: ReadonlyArray<FormatName>,
  request: ExportRequest,
  options: TableOptions,
) {
  const { knownSince } = yield* readFacts(book.bookId, null)
  const own = resolve(request.out, bookFolder(book))
  yield* clearLeftovers(own, (yield* previousBatch(book.bookId))?.batch ?? 0, knownSince)
  const selection = yield* selectionAt(book, scope, request)
  const again = request.again === true
  const basis = request.base?.baseCurrency ?? nativeBasis
  const { had, plans } = yield* planBook(
    book.bookId,
    basis,
    selection,
    formats,
    again,
    request.perFormat ?? false,
  )
  const batches: Array<ExportedBatch> = []
  for (const together of bySelection(plans)) {
    batches.push(...(yield* exportBatches(book, together.selection, together.plans, request, options)))
  }
  return { batches, exported: had.map((one): Exported => ({ book: book.code, ...one })) }
})

/**
 * The books that have entries of the selection, and the codes of those that have none. Fails where none has: an empty batch would
 * take a number and say nothing. The base-currency journal has what only it has, also in a month without entries.
 */
const withEntries = Effect.fn("Export.withEntries")(function* (
  books: ReadonlyArray<Book>,
  selection: Selection | null,
  request: ExportRequest,
) {
  if (selection === null || request.base !== undefined) return { chosen: books, empty: [] }
  const found = yield* Effect.forEach(books, (book) =>
    Effect.map(contentOf(book.bookId, selection), (content) => ({ book, ...content })),
  )
  const chosen = found.filter(({ holds }) => holds).map(({ book }) => book)
  const empty = found.filter(({ holds }) => !holds)
  if (chosen.length > 0) return { chosen, empty: empty.map(({ book }) => book.code) }
  const what = empty.every(({ ahead }) => ahead) ? "lies ahead" : "has no entries"
  const codes = empty.map(({ book }) => book.code).join(", ")
  return yield* exportError("Usage", `${selection.text} ${what} in ${codes}. Nothing was written.`)
})

/** As the book has them; in the base currency nothing is left out. */
const optionsFor = (options: TableOptions, { code }: Book): TableOptions => {
  const { leaveOut } = options.settings
  const settings = settingsOf(options.settings, code)
  return { ...options, settings: options.inBase === true ? { ...settings, leaveOut } : settings }
}

const busy = (book: Book) => () =>
  exportError("Busy", `Another export of the book ${book.code} runs: wait for it to finish, or stop it.`)

/** Of several books none is written where one of them lacks rates of that time. */
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
  // What the journal said at a time is made beside the one that is kept, which it leaves alone.
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
  ExportError | AsOfError | UnknownBook | ValuationError | DatabaseError,
  Database
> {
  const database = yield* Database
  const formats = yield* checkFormats(request.formats)
  const selection = yield* selectionOf(request.scope)
  const books = yield* chooseBooks(request.connection, request.book)
  const options = optionsOf(request)
  yield* checkChoices(request)
  const { chosen, empty } = yield* withEntries(books, selection, request)
  yield* checkBookSettings(options.settings, chosen, yield* allBooks(Option.none()), formats)
  if (request.base !== undefined) yield* valued(books, selection, request.base, request)
  const batches: Array<ExportedBatch> = []
  const unchanged: Array<string> = []
  const exported: Array<Exported> = []
  const outdated: Array<Outdated> = []
  for (const book of chosen) {
    const made = yield* database
      .withSessionLock(
        `export ${book.bookId}`,
        exportBook(book, selection, formats, request, optionsFor(options, book)),
      )
      .pipe(Effect.catchTag("LockBusy", busy(book)))
    batches.push(...made.batches)
    exported.push(...made.exported)
    if (request.base !== undefined && request.asOf === undefined) {
      for (const one of yield* outdatedBatches(book.bookId)) outdated.push({ book: book.code, ...one })
    }
    if (made.batches.length + made.exported.length === 0) unchanged.push(book.code)
  }
  return {
    batches,
    unchanged,
    empty,
    exported,
    outdated,
    complete: batches.every(({ manifest }) => manifest.complete),
  }
})
