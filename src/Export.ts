/** Writes the books as files that accountants import: numbered, checksummed batches in a folder. */
import { join, resolve } from "node:path"
import { Effect, Either, Option, Schema } from "effect"
import type { Book } from "./Book.ts"
import type { DatabaseError } from "./Database/DatabaseError.ts"
import { Database } from "./Database.ts"
import { writeBatch } from "./Export/Batch.ts"
import { commitBatch, lastBatch, sinceLast } from "./Export/Batches.ts"
import { chooseBooks } from "./Export/ChosenBooks.ts"
import { type ExportError, exportError } from "./Export/ExportError.ts"
import { readFacts } from "./Export/Facts.ts"
import { type FormatName, formatNames, isFormatName } from "./Export/Formats.ts"
import { clearLeftovers, markUnfinished } from "./Export/Leftovers.ts"
import type { Manifest } from "./Export/Manifest.ts"
import { type ExportScope, type Selection, selectionOf } from "./Export/Scope.ts"
import { hasNews } from "./Export/Selected.ts"
import type { Mode } from "./Export/Table/Journals.ts"
import type { TableOptions } from "./Export/Tables.ts"
import { Content } from "./Settings/Content.ts"
import type { ValuationError } from "./Valuation/ValuationError.ts"
import { type ValuationOptions, value } from "./Valuation.ts"

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
  /** Of accounting systems' formats; a journal per entry when absent. */
  readonly mode?: Mode
  /** What those formats need to know; the settings' defaults when absent. */
  readonly tables?: Omit<TableOptions, "mode">
  /** Everything in the base currency, from the base-currency journal; the books' own currencies when absent. */
  readonly base?: ValuationOptions
}

/** One committed batch. `manifest.complete` is false where something is known to be missing: exit code 3. */
export interface ExportedBatch {
  readonly folder: string
  readonly manifest: Manifest
}

export interface ExportSummary {
  readonly batches: ReadonlyArray<ExportedBatch>
  /** Codes of books without anything new, with `since-last` only. */
  readonly unchanged: ReadonlyArray<string>
  readonly complete: boolean
}

const { accounting, formats: formatSettings } = Schema.decodeUnknownSync(Content)({})
const defaults = { settings: formatSettings, baseCurrency: accounting.baseCurrency }

const checkFormats = (
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

const folderName = ({ clientId, connection }: Book): string =>
  `${connection.replaceAll(/[^A-Za-z0-9._-]/g, "-")}-${Option.getOrElse(clientId, () => "org")}`

/** One batch: marked, written, committed in the database, kept. */
const exportBatch = Effect.fn("Export.batch")(function* (
  book: Book,
  out: string,
  selection: Selection,
  formats: ReadonlyArray<FormatName>,
  options: TableOptions,
  base: boolean,
) {
  const batch = (yield* lastBatch(book.bookId)) + 1
  const place = join(folderName(book), selection.text, String(batch))
  const bookFolder = resolve(out, folderName(book))
  const mark = yield* markUnfinished(bookFolder, selection.text, batch)
  const { folder, manifest } = yield* writeBatch(
    { book, batch, selection, formats, options, base },
    resolve(out, place),
  )
  yield* commitBatch(book.bookId, place, manifest).pipe(
    // An answer that was lost may have been a yes: a committed batch must have its folder. The marker stays, for the next run.
    Effect.tapError((error) =>
      error.reason === "Unreachable" ? Effect.zipRight(mark.leave, folder.keep) : Effect.void,
    ),
    Effect.zipLeft(folder.keep),
    Effect.uninterruptible,
  )
  return { folder: join(out, place), manifest } satisfies ExportedBatch
}, Effect.scoped)

const exportBook = Effect.fn("Export.book")(function* (
  book: Book,
  selection: Selection | null,
  formats: ReadonlyArray<FormatName>,
  out: string,
  options: TableOptions,
  base: boolean,
) {
  const bookFolder = resolve(out, folderName(book))
  const { knownSince } = yield* readFacts(book.bookId, null)
  yield* clearLeftovers(bookFolder, yield* lastBatch(book.bookId), knownSince)
  const plans = selection === null ? yield* sinceLast(book.bookId, formats) : [{ selection, formats }]
  const batches: Array<ExportedBatch> = []
  for (const plan of plans) {
    if (plan.selection.since !== null && !(yield* hasNews(book.bookId, plan.selection))) continue
    batches.push(yield* exportBatch(book, out, plan.selection, plan.formats, options, base))
  }
  return batches
})

const busy = (book: Book) => () =>
  exportError("Busy", `Another export of the book ${book.code} runs: wait for it to finish, or stop it.`)

/** The base-currency journal has one file per format, nothing left out. */
const optionsOf = ({ base, mode = "detail", tables = defaults }: ExportRequest): TableOptions =>
  base === undefined
    ? { ...tables, mode }
    : { settings: { ...tables.settings, leaveOut: [] }, baseCurrency: base.baseCurrency, mode }

/** Brings the base-currency journal up to date, or says what it lacks, before anything is written. */
const valued = Effect.fn("Export.valued")(function* (
  books: ReadonlyArray<Book>,
  selection: Selection | null,
  base: ValuationOptions,
) {
  if (selection === null) {
    return yield* exportError(
      "Usage",
      "The base-currency journal cannot be exported since the last time: its open months change as a whole. Name a period.",
    )
  }
  yield* value(books, selection.to === null ? null : selection.to.slice(0, 7), base)
})

/**
 * Exports each chosen book into a batch folder of its own. Number the books' entries first (`Ledger.assignNumbers`):
 * entries without a journal number are left out, and the manifest says so. Books before a failing one stay committed.
 */
export const run = Effect.fn("Export.run")(function* (
  request: ExportRequest,
): Effect.fn.Return<ExportSummary, ExportError | ValuationError | DatabaseError, Database> {
  const database = yield* Database
  const formats = yield* checkFormats(request.formats)
  const selection = yield* selectionOf(request.scope)
  const books = yield* chooseBooks(request.connection, request.book)
  const options = optionsOf(request)
  if (request.base !== undefined) yield* valued(books, selection, request.base)
  const batches: Array<ExportedBatch> = []
  const unchanged: Array<string> = []
  for (const book of books) {
    const made = yield* database
      .withSessionLock(
        `export ${book.bookId}`,
        exportBook(book, selection, formats, request.out, options, request.base !== undefined),
      )
      .pipe(Effect.catchTag("LockBusy", busy(book)))
    batches.push(...made)
    if (made.length === 0) unchanged.push(book.code)
  }
  return { batches, unchanged, complete: batches.every(({ manifest }) => manifest.complete) }
})
