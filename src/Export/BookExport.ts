/** The batches that an export makes of one book: planned, written and committed together. */
import { join, resolve } from "node:path"
import { Effect } from "effect"
import { type Book, bookFolder } from "../Book.ts"
import { mayWrite } from "../Database/MayWrite.ts"
import { nativeBasis } from "../Format/Entry.ts"
import { settingsOf } from "../Format/FormatSettings.ts"
import { asOfSuffix, resolveAsOf } from "../Ledger/AsOf.ts"
import { commitBatches } from "./Batch/Commit.ts"
import type { Folder } from "./Batch/Folder.ts"
import { clearLeftovers, markUnfinished } from "./Batch/Leftovers.ts"
import type { Manifest } from "./Batch/Manifest.ts"
import { print, sha256Of } from "./Batch/ManifestSeal.ts"
import { writeBatches } from "./Batch.ts"
import type { TableOptions } from "./Mapping/PreparedTables.ts"
import { previousBatch } from "./Request/Lineage.ts"
import { bySelection, type Plan, planBook } from "./Request/Plans.ts"
import type { Selection } from "./Request/Scope.ts"
import { type ExportRequest, type RequestPart, timeZoneOf } from "./Request.ts"
import type { Difference } from "./Source/Difference.ts"

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

/** Batches of the same entries in the same currency basis: they are written in one pass. */
interface Pass extends Pick<RequestPart, "base" | "options"> {
  readonly selection: Selection
  readonly plans: ReadonlyArray<Plan>
}

/** Numbers the batches of all passes, and says where each stands. */
const placed = (book: Book, first: number, passes: ReadonlyArray<Pass>, request: ExportRequest) => {
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

/** Marked, written a pass at a time, committed in one transaction, kept. All of them or none. */
const exportBatches = Effect.fn("Export.batches")(function* (
  book: Book,
  passes: ReadonlyArray<Pass>,
  request: ExportRequest,
) {
  const { out } = request
  let previous = yield* previousBatch(book.bookId)
  const all = placed(book, (previous?.batch ?? 0) + 1, passes, request)
  const mark = yield* markUnfinished(
    resolve(out, bookFolder(book)),
    all.flatMap(({ batches }) => batches.map(({ below }) => below)),
  )
  const made: Array<{ folder: Folder; place: string; exported: ExportedBatch }> = []
  for (const { batches, ...pass } of all) {
    const written = yield* writeBatches({ book, ...pass, previous }, batches)
    for (const [at, { folder, ...rest }] of written.entries()) {
      const place = batches[at]?.place ?? folder.path
      const { manifest } = rest
      previous = { batch: manifest.batch, manifestSha256: sha256Of(print(manifest)) }
      made.push({ folder, place, exported: { folder: join(out, place), ...rest } })
    }
  }
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
export const selectionAt = Effect.fn("Export.selectionAt")(function* (
  book: Book,
  selection: Selection | null,
  request: ExportRequest,
) {
  if (selection === null || request.asOf === undefined) return selection
  const at = yield* resolveAsOf(request.asOf, book.bookId, timeZoneOf(request))
  return { ...selection, text: `${selection.text}${asOfSuffix(at)}`, asOf: at } satisfies Selection
})

/** As the book has them; in the base currency nothing is left out. */
const optionsFor = (options: TableOptions, { code }: Book): TableOptions => {
  const { leaveOut } = options.settings
  const settings = settingsOf(options.settings, code)
  return { ...options, settings: options.inBase === true ? { ...settings, leaveOut } : settings }
}

/** Everything that was asked for of one book. */
export const exportBook = Effect.fn("Export.book")(function* (
  book: Book,
  scope: Selection | null,
  parts: ReadonlyArray<RequestPart>,
  request: ExportRequest,
) {
  const { again = false, perFormat = false } = request
  yield* clearLeftovers(resolve(request.out, bookFolder(book)), book.bookId)
  const selection = yield* selectionAt(book, scope, request)
  const passes: Array<Pass> = []
  const exported: Array<Exported> = []
  for (const { base, formats, options } of parts) {
    const basis = base?.baseCurrency ?? nativeBasis
    const { had, plans } = yield* planBook(book.bookId, basis, selection, formats, again, perFormat)
    exported.push(...had.map((one): Exported => ({ book: book.code, ...one })))
    for (const each of bySelection(plans)) passes.push({ ...each, base, options: optionsFor(options, book) })
  }
  const batches = passes.length === 0 ? [] : yield* exportBatches(book, passes, request)
  return { batches, exported }
})
