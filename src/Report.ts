/**
 * The close package that a controller gives to the auditor, for one month of one book: review files and one page. For a month
 * that is open or does not tie out it is marked as a draft, with the reasons.
 */
import { join, resolve } from "node:path"
import { Chunk, Effect, Either, Option } from "effect"
import { liesAhead } from "./Book/Ahead.ts"
import { refuseArchived } from "./Book/Archived.ts"
import { chooseBooks } from "./Book/ChosenBooks.ts"
import type { Book } from "./Book.ts"
import { firstOf } from "./Common/Effects/FirstOf.ts"
import { inStage } from "./Common/Progress.ts"
import { count, counted } from "./Common/Text.ts"
import { Database } from "./Database.ts"
import { filesAtOnce, openFolder } from "./Export/Batch/Folder.ts"
import {
  type Manifest,
  manifestFile,
  print as printManifest,
} from "./Export/Batch/Manifest/ReportManifest.ts"
import { ExportError, exportError } from "./Export/ExportError.ts"
import { type AsOf, resolveAsOf } from "./Ledger/AsOf.ts"
import { checkPlace, exchange, placeOf, prepare } from "./Report/ReportFolder.ts"
import { scopeOf } from "./Report/ReportScope.ts"
import { reportFiles, writeFiles } from "./Report/Write.ts"
import { Settings } from "./Settings.ts"
import type { ValuationOptions } from "./Valuation/ValuedBook.ts"
import { value } from "./Valuation.ts"

export interface ReportRequest {
  /** `2026-10`, a month of the book's accounting time zone. */
  readonly period: string
  /** A book's code or its client's identifier; none: all books with accounts. */
  readonly book: Option.Option<string>
  /** The parent of the books' folders. */
  readonly out: string
  /** Only what was recorded up to then, by our clock; none: all. */
  readonly asOf: Option.Option<AsOf>
  /**
   * Values the month in the base currency first, as of `asOf` if that is given. None: the last valuation is used, and with
   * `asOf` none.
   */
  readonly base?: ValuationOptions
}

export interface WrittenReport {
  readonly folder: string
  readonly manifest: Manifest
}

/** The report's folder, and what belongs there. */
const placedOf = Effect.fn("Report.placed")(function* (
  book: Book,
  { asOf: then, out, period }: ReportRequest,
) {
  const { accounting } = yield* Settings
  const asOf = Option.isNone(then) ? null : yield* resolveAsOf(then.value, book.bookId, accounting.timeZone)
  const placed = { book, period, asOf }
  const place = placeOf(placed)
  return { placed, place, path: resolve(out, place) }
})

const reportBook = Effect.fn("Report.book")(function* (book: Book, request: ReportRequest) {
  const database = yield* Database
  const { reconcile } = yield* Settings
  const { base, out, period } = request
  const { path, place, placed } = yield* placedOf(book, request)
  const { asOf } = placed
  const folder = yield* openFolder(yield* prepare(path, placed, reportFiles))
  const manifest = yield* database.transaction(
    Effect.flatMap(Effect.zipRight(folder.clear, scopeOf(book, period, asOf)), (scope) =>
      writeFiles(scope, folder, reconcile.materiality, asOf === null ? undefined : base),
    ),
    // An as-of base-currency journal is made in temporary tables.
    { isolation: "repeatable read", readOnly: asOf === null || base === undefined },
  )
  const file = yield* folder.create(manifestFile)
  yield* file.write(Buffer.from(printManifest(manifest), "utf8"))
  yield* file.finish
  yield* folder.publish([...manifest.files.map(({ name }) => name), manifestFile])
  yield* Effect.uninterruptible(Effect.zipRight(exchange(path), folder.keep))
  return { folder: join(out, place), manifest } satisfies WrittenReport
}, Effect.scoped)

/** Reports that are written side by side, each from a snapshot of its own: they wait for the disk and for the database. */
const reportsAtOnce = 4

const locksOf = (books: ReadonlyArray<Book>) =>
  books.map(({ bookId }) => ({ lock: `report ${bookId}`, shared: false }))

/**
 * Writes the reports of a few books. If one fails, the reports of the others are still written, and the first failure is
 * reported.
 */
const reportSideBySide = (
  books: ReadonlyArray<Book>,
  request: ReportRequest,
): ReturnType<typeof reportEach> =>
  Effect.flatMap(Database, (database) => {
    const [first, ...more] = books
    const written = Effect.scoped(
      Effect.flatMap(database.tryLocksOfReader(...locksOf(books)), ({ lost }) =>
        firstOf(reportEach(books, request), lost),
      ),
    )
    return Effect.catchTag(written, "LockBusy", () =>
      first === undefined || more.length === 0
        ? exportError(
            "Busy",
            `Another report of the book ${first?.code} is being written: wait for it to finish.`,
          )
        : // The others of them are written all the same.
          Effect.forEach(books, (book) => Effect.either(reportSideBySide([book], request))).pipe(
            Effect.flatMap(Effect.all),
            Effect.map((reports) => reports.flat()),
          ),
    )
  })

const reportEach = Effect.fn("Report.each")(function* (books: ReadonlyArray<Book>, request: ReportRequest) {
  const report = (book: Book) => Effect.either(reportBook(book, request))
  return yield* Effect.all(yield* Effect.forEach(books, report, { concurrency: reportsAtOnce }))
})

/** Books whose places are looked at together. */
const placesAtOnce = 100

/**
 * Looks at the places of all reports before a month is valued or the first one is written. Where one of them is being written right
 * now, its place is looked at when its turn comes, as every place is once more.
 */
const checkPlaces = Effect.fn("Report.checkPlaces")(function* (
  books: ReadonlyArray<Book>,
  request: ReportRequest,
) {
  const database = yield* Database
  const check = (book: Book) =>
    Effect.flatMap(placedOf(book, request), ({ path, placed }) => checkPlace(path, placed, reportFiles))
  for (const chunk of Chunk.chunksOf(Chunk.fromIterable(books), placesAtOnce)) {
    const some = Chunk.toReadonlyArray(chunk)
    yield* database.tryLocksOfReader(...locksOf(some)).pipe(
      Effect.zipRight(Effect.forEach(some, check, { concurrency: filesAtOnce, discard: true })),
      Effect.scoped,
      Effect.catchTag("LockBusy", () => Effect.void),
    )
  }
})

/**
 * Writes a report of each chosen book. Number the books' entries first (`Ledger.assignNumbers`). A folder that holds
 * something else refuses all of them before anything is written. Where one book's fails otherwise, those of the others are written, and the first failure is reported. Fails with `ExportError`: `Usage`, `Busy`, `Folder`, `FolderTaken`, `Disagrees`; with `ValuationError` where the month cannot be valued.
 */
export const report = Effect.fn("Report.report")(function* (request: ReportRequest) {
  const books = yield* chooseBooks(Option.none(), request.book)
  const ids = books.map(({ bookId }) => bookId)
  yield* refuseArchived(ids, request.period)
  if (yield* liesAhead(ids, request.period)) {
    return yield* exportError("Usage", `${request.period} lies ahead. Nothing was written.`)
  }
  yield* checkPlaces(books, request)
  if (request.base !== undefined && Option.isNone(request.asOf)) {
    yield* value(books, request.period, request.base)
  }
  const written: Array<WrittenReport> = []
  let failure: ExportError | undefined
  let done = 0
  const all = Effect.gen(function* () {
    for (const some of Chunk.chunksOf(Chunk.fromIterable(books), reportsAtOnce)) {
      const result = yield* Effect.either(reportSideBySide(Chunk.toReadonlyArray(some), request))
      if (Either.isRight(result)) written.push(...result.right)
      else if (result.left instanceof ExportError) failure ??= result.left
      else return yield* result.left
      done += some.length
    }
  })
  yield* inStage("report", () => `${count(done)} of ${counted(books.length, "book")}`)(all)
  return failure === undefined ? written : yield* failure
})
