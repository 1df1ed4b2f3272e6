/**
 * Exports several books together: plans, reads and commits them with one statement each for all books, and writes their folders
 * side by side. Either all of their batches are made or none.
 */
import { dirname, join, resolve } from "node:path"
import { Effect } from "effect"
import { ofBook } from "../Book/ByBook.ts"
import { bookFolder } from "../Book.ts"
import { makeFolder } from "../Common/Files/Folders.ts"
import { inStage } from "../Common/Progress.ts"
import { count, counted } from "../Common/Text.ts"
import { mayWrite } from "../Database/MayWrite.ts"
import { commitBatches } from "./Batch/Commit.ts"
import { attempt, quietly } from "./Batch/FileAttempt.ts"
import { filesAtOnce, type IsOwn, madeFolders, mustOwn, removeEmpty, syncFolders } from "./Batch/Folder.ts"
import { PutAside } from "./Batch/Kept/PutAside.ts"
import { clearLeftovers, knownSinceOf, markUnfinished, refuseTaken } from "./Batch/Leftovers.ts"
import type { Lineage } from "./Batch/Manifest/Lineage.ts"
import { print, sha256Of } from "./Batch/Manifest/ManifestSeal.ts"
import type { WrittenBatch } from "./Batch.ts"
import {
  type AskedBook,
  type ExportedBatch,
  type PlannedBook,
  placedPasses,
  plannedBooks,
} from "./BookExport.ts"
import type { Selection } from "./Request/ExportScope.ts"
import { previousBatches } from "./Request/Lineage.ts"
import { warnOfTakenOut } from "./Request/TakenOut.ts"
import type { ExportRequest } from "./Request.ts"
import { type AskedPass, refusalsOf, unitsOf, writeUnit } from "./Unit.ts"

interface MadeBatch {
  readonly bookId: number
  readonly place: string
  readonly written: WrittenBatch
}

/** Marks which batches of each book are being written. The books' folders are durable before anything is committed. */
const marked = Effect.fn("Export.marked")(function* (
  books: ReadonlyArray<{
    readonly bookId: number
    readonly folder: string
    readonly places: ReadonlyArray<string>
    readonly knownSince: string
  }>,
  out: string,
) {
  yield* refuseTaken(books.flatMap(({ folder, places }) => places.map((place) => join(folder, place))))
  const first = yield* Effect.acquireRelease(
    attempt(out, () => makeFolder(out)),
    (made) => removeEmpty(made, out),
  )
  const marks = yield* Effect.forEach(
    books,
    ({ bookId, folder, knownSince, places }) =>
      Effect.map(markUnfinished(folder, places, knownSince), (mark) => ({ ...mark, bookId, folder })),
    { concurrency: filesAtOnce },
  )
  const isNew = marks.some((mark) => mark.isNew)
  yield* syncFolders([...(isNew ? [out] : []), ...madeFolders(first, out).map(dirname)])
  return {
    ownBy: new Map<number, IsOwn>(marks.map(({ bookId, isOwn }) => [bookId, isOwn])),
    hold: Effect.forEach(marks, ({ folder, isOwn }) => mustOwn(folder, isOwn), {
      concurrency: filesAtOnce,
      discard: true,
    }),
    leave: Effect.forEach(marks, (mark) => mark.leave, { discard: true }),
  }
})

const booksOf = (unit: ReadonlyArray<AskedPass>): string => {
  const [first, ...more] = unit
  return more.length === 0 && first !== undefined ? `book ${first.book.code}` : counted(unit.length, "book")
}

/** All passes of the books, each book's in their order: every manifest names the one before. */
const writePasses = Effect.fn("Export.writePasses")(function* (
  books: ReadonlyArray<{ readonly planned: PlannedBook; readonly passes: ReturnType<typeof placedPasses> }>,
  previous: Map<number, NonNullable<Lineage["previous"]>>,
  aside: PutAside | undefined,
  ownBy: ReadonlyMap<number, IsOwn>,
) {
  const made: Array<MadeBatch> = []
  const batches = count(books.flatMap(({ passes }) => passes.flatMap((pass) => pass.batches)).length)
  const rounds = Math.max(0, ...books.map(({ passes }) => passes.length))
  for (let round = 0; round < rounds; round++) {
    const asked = books.flatMap(({ passes, planned: { book } }) => {
      const pass = passes[round]
      return pass === undefined ? [] : [{ book, ...pass, previous: previous.get(book.bookId) ?? null }]
    })
    for (const unit of yield* unitsOf(asked)) {
      const written = yield* writeUnit(unit, aside, ownBy).pipe(
        inStage("export", () => `batch ${made.length + 1} of ${batches}, ${booksOf(unit)}`),
      )
      for (const { bookId, place, written: batch } of written) {
        const { manifest } = batch
        made.push({ bookId, place, written: batch })
        previous.set(bookId, { batch: manifest.batch, manifestSha256: sha256Of(print(manifest)) })
      }
    }
  }
  return made
})

/** Marks, writes, commits in one transaction, and keeps the batches: all of them or none. */
const exportBatches = Effect.fn("Export.batches")(function* (
  books: ReadonlyArray<PlannedBook>,
  request: ExportRequest,
) {
  const { out } = request
  const ids = books.map(({ book }) => book.bookId)
  const previous = yield* previousBatches(ids)
  const known = yield* knownSinceOf(ids)
  const all = books.map((one) => ({
    planned: one,
    passes: placedPasses(one, (previous.get(one.book.bookId)?.batch ?? 0) + 1, request),
  }))
  const mark = yield* marked(
    all.map(({ passes, planned: { book } }) => ({
      bookId: book.bookId,
      folder: resolve(out, bookFolder(book)),
      places: passes.flatMap(({ batches }) => batches.map(({ below }) => below)),
      knownSince: ofBook(known, book.bookId),
    })),
    resolve(out),
  )
  const withFiles = request.keepFiles !== false && request.preview !== true
  const puttingAside = Effect.acquireRelease(
    Effect.sync(() => new PutAside()),
    (opened) => quietly(() => opened.close()),
  )
  const aside = withFiles ? yield* puttingAside : undefined
  const made = yield* writePasses(all, new Map(previous), aside, mark.ownBy)
  const keep = Effect.forEach(made, ({ written }) => written.folder.keep, { discard: true })
  if (request.preview === true && !(yield* mayWrite())) {
    yield* Effect.logWarning(
      "The database may only be read here: it does not know of this preview, which cannot be committed.",
    )
    yield* keep
    return made
  }
  const commits = made.map(({ bookId, place, written: { folder, manifest } }) => {
    const keepFrom = withFiles ? folder : null
    return { commit: { bookId, place, keepFrom, who: request.who ?? "the schedule" }, manifest }
  })
  yield* mark.hold
  yield* Effect.uninterruptibleMask((restore) =>
    commitBatches(commits, restore).pipe(
      // If the answer to the commit was lost, it may have succeeded, and committed batches must have their folders. The marker
      // stays, for the next run.
      Effect.tapError((error) =>
        error.reason === "Unreachable" ? Effect.zipRight(mark.leave, keep) : Effect.void,
      ),
      Effect.zipLeft(keep),
    ),
  )
  return made
}, Effect.scoped)

/** The results for each book. */
export const exportBooks = Effect.fn("Export.books")(function* (
  asked: ReadonlyArray<AskedBook>,
  scope: Selection | null,
  request: ExportRequest,
) {
  yield* Effect.forEach(
    asked,
    ({ book }) => clearLeftovers(resolve(request.out, bookFolder(book)), book.bookId),
    { concurrency: filesAtOnce, discard: true },
  )
  const plans = yield* plannedBooks(asked, scope, request)
  const writing = plans.filter(({ passes }) => passes.length > 0)
  yield* warnOfTakenOut(writing)
  const made = writing.length === 0 ? [] : yield* exportBatches(writing, request)
  const batches = new Map(asked.map(({ book }) => [book.bookId, Array.of<ExportedBatch>()]))
  for (const { bookId, place, written } of made) {
    const { difference, lackingRates, manifest } = written
    ofBook(batches, bookId).push({ folder: join(request.out, place), manifest, difference, lackingRates })
  }
  return plans.map(({ book, exported }) => ({ book, exported, batches: ofBook(batches, book.bookId) }))
})

/** Why books are refused before anything is written: the reasons of all books, not only of the first. */
export const refusalsOfBooks = Effect.fn("Export.refusalsOfBooks")(function* (
  asked: ReadonlyArray<AskedBook>,
  scope: Selection | null,
  request: ExportRequest,
) {
  const plans = yield* plannedBooks(asked, scope, request)
  const passes = plans.flatMap(({ book, passes }) =>
    passes.map(({ plans: own, ...pass }) => ({
      book,
      ...pass,
      formats: own.flatMap(({ formats }) => formats),
    })),
  )
  return (yield* Effect.forEach(passes, refusalsOf)).flat()
})
