/** Books that are exported together, under their locks; and what stays committed where one of them fails. */
import { Effect } from "effect"
import type { Book } from "../Book.ts"
import { firstOf } from "../Common/Effects/FirstOf.ts"
import { count, counted } from "../Common/Text.ts"
import { Database } from "../Database.ts"
import type { AskedBook, ExportedBatch } from "./BookExport.ts"
import { exportBooks, refusalsOfBooks } from "./ExportBooks.ts"
import { ExportError, exportError, refused } from "./ExportError.ts"
import type { Selection } from "./Request/ExportScope.ts"
import type { ExportRequest } from "./Request.ts"

const anotherRuns = (book: Book) => () =>
  exportError("Busy", `Another export of the book ${book.code} runs: wait for it to finish, or stop it.`)

const isRefusal = (error: { readonly _tag: string }): error is ExportError =>
  error instanceof ExportError && error.refusals !== undefined

/** The request is not possible in one of the books, or its place is taken; reported before anything is written. */
const isUsage = (error: { readonly _tag: string }): error is ExportError =>
  error instanceof ExportError && (error.reason === "Usage" || error.reason === "FolderTaken")

/** Batches that a warning names. */
const mostStaying = 10

/** An error is all that is reported of an export of many books; what it has committed must be known, too. */
export const whatStays = (made: ReadonlyArray<ExportedBatch>): Effect.Effect<void> => {
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
export const booksAtOnce = 100

/**
 * Exports books together, under their locks. If some are refused, or the request is not possible in one, none is written, and
 * the error has the reasons of all. If one fails for another reason, each is exported by itself: those before the failing one
 * stay committed, and its error is reported.
 */
export const exportSome = (
  asked: ReadonlyArray<AskedBook>,
  selection: Selection | null,
  request: ExportRequest,
): ReturnType<typeof exportBooks> =>
  Effect.flatMap(Database, (database) => {
    const locks = asked.map(({ book }) => ({ lock: `export ${book.bookId}`, shared: false }))
    const [first, ...more] = asked
    const tryLocks = request.preview === true ? database.tryLocksOfReader : database.tryLocks
    const underLocks = Effect.scoped(
      Effect.flatMap(tryLocks(...locks), ({ lost }) => firstOf(exportBooks(asked, selection, request), lost)),
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
