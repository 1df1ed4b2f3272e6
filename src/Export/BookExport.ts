/** The batches that an export makes of each of several books: of which entries, and in which folders. */
import { join, resolve } from "node:path"
import { Effect } from "effect"
import { ofBook } from "../Book/ByBook.ts"
import { type Book, bookFolder } from "../Book.ts"
import { nativeBasis } from "../Format/Entry.ts"
import { settingsOf } from "../Format/FormatSettings.ts"
import { asOfSuffix, resolveAsOf } from "../Ledger/AsOf.ts"
import type { Manifest } from "./Batch/Manifest.ts"
import type { TableOptions } from "./Mapping/PreparedTables.ts"
import type { Selection } from "./Request/ExportScope.ts"
import type { Way } from "./Request/OtherWays.ts"
import { bySelection, type Plan } from "./Request/Plan.ts"
import { planBooks } from "./Request/Plans.ts"
import { type ExportRequest, type RequestPart, timeZoneOf } from "./Request.ts"
import type { Difference } from "./Source/Difference.ts"

/** One committed batch. `manifest.complete` is false where something is known to be missing: exit code 3. */
export interface ExportedBatch {
  readonly folder: string
  readonly manifest: Manifest
  /** Of an as-of export: what has changed since. */
  readonly difference: Difference | null
  /** Of an as-of export in the base currency: how many rates are missing to value the books as of now; unless 0, there is no difference. */
  readonly lackingRates: number
}

/** Batches that already hold everything asked for, so that nothing was written. */
export interface Exported {
  readonly book: string
  readonly formats: ReadonlyArray<string>
  readonly batches: ReadonlyArray<number>
}

/** Batches of the same entries in the same currency basis: they are written in one pass. */
interface Pass extends Pick<RequestPart, "base" | "options"> {
  readonly selection: Selection
  readonly plans: ReadonlyArray<Plan>
}

/** A book with the batches that it will get, and what earlier batches hold. */
export interface PlannedBook {
  readonly book: Book
  readonly passes: ReadonlyArray<Pass>
  readonly exported: ReadonlyArray<Exported>
}

/** A book with the request for it. */
export interface AskedBook {
  readonly book: Book
  readonly parts: ReadonlyArray<RequestPart>
}

/** Numbers the batches of all passes, and says where each stands. */
export const placedPasses = ({ book, passes }: PlannedBook, first: number, request: ExportRequest) => {
  const state = request.preview === true ? ("preview" as const) : ("committed" as const)
  let batch = first
  return passes.map(({ plans, ...pass }) => ({
    ...pass,
    batches: plans.map(({ delta, follows, formats, supersedes }) => {
      const currencyBasis = pass.base?.baseCurrency ?? nativeBasis
      const below = join(pass.selection.text, String(batch))
      const place = join(bookFolder(book), below)
      const lineage = { state, currencyBasis, delta, follows, supersedes }
      return { part: { batch: batch++, formats, lineage }, below, place, path: resolve(request.out, place) }
    }),
  }))
}

/** The selection as of the requested time. */
export const selectionAt = Effect.fn("Export.selectionAt")(function* (
  book: Book,
  selection: Selection | null,
  request: ExportRequest,
) {
  if (selection === null || request.asOf === undefined) return selection
  const at = yield* resolveAsOf(request.asOf, book.bookId, timeZoneOf(request))
  return { ...selection, text: `${selection.text}${asOfSuffix(at)}`, asOf: at } satisfies Selection
})

/** The formats' settings for the book; in the base currency no currency is left out. */
const optionsFor = (options: TableOptions, { code }: Book): TableOptions => {
  const { leaveOut } = options.settings
  const settings = settingsOf(options.settings, code)
  return { ...options, settings: options.inBase === true ? { ...settings, leaveOut } : settings }
}

/** The plans of a part, by book. A time in the past is a selection of each book's own. */
const plansOf = Effect.fn("Export.plansOf")(function* (
  books: ReadonlyArray<Book>,
  scope: Selection | null,
  { base, formats, options }: RequestPart,
  request: ExportRequest,
) {
  const { again = false, perFormat = false } = request
  const way: Way = {
    basis: base?.baseCurrency ?? nativeBasis,
    rated: options.rated === true,
    hasResults: (code) => settingsOf(options.settings, code).exchangeResults,
  }
  const plan = (chosen: ReadonlyArray<Book>, selection: Selection | null) =>
    planBooks(
      chosen.map(({ bookId }) => bookId),
      way,
      selection,
      formats,
      again,
      perFormat,
    )
  if (scope === null || request.asOf === undefined) return yield* plan(books, scope)
  const own = yield* Effect.forEach(books, (book) =>
    Effect.flatMap(selectionAt(book, scope, request), (selection) => plan([book], selection)),
  )
  return new Map(own.flatMap((plans) => [...plans]))
})

/** The batches of each book, in the order of the parts. */
export const plannedBooks = Effect.fn("Export.planned")(function* (
  asked: ReadonlyArray<AskedBook>,
  scope: Selection | null,
  request: ExportRequest,
) {
  const made = new Map(
    asked.map(({ book }) => [book.bookId, { passes: Array.of<Pass>(), exported: Array.of<Exported>() }]),
  )
  for (const part of new Set(asked.flatMap(({ parts }) => parts))) {
    const { base, options } = part
    const books = asked.filter(({ parts }) => parts.includes(part)).map(({ book }) => book)
    const plans = yield* plansOf(books, scope, part, request)
    for (const book of books) {
      const own = ofBook(made, book.bookId)
      const found = ofBook(plans, book.bookId)
      own.exported.push(...found.had.map((one) => ({ book: book.code, ...one })))
      for (const each of bySelection(found.plans)) {
        own.passes.push({ ...each, base, options: optionsFor(options, book) })
      }
    }
  }
  return asked.map(({ book }): PlannedBook => ({ book, ...ofBook(made, book.bookId) }))
})
