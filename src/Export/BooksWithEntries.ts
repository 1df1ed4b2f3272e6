/** Which of the chosen books have something to export: an empty batch would take a number and say nothing. */
import { Effect } from "effect"
import type { Book } from "../Book.ts"
import type { AskedBook } from "./BookExport.ts"
import { exportError } from "./ExportError.ts"
import type { Selection } from "./Request/ExportScope.ts"
import { contentsOf } from "./Request/Selected.ts"
import type { ExportRequest, RequestPart } from "./Request.ts"

/**
 * The books that have entries of the selection, and the codes of those that have none. Fails where none has: an empty batch
 * would take a number and say nothing. In the base currency this is asked once the books are valued, since that journal has
 * revaluations and their reversals even in a month without other entries.
 */
export const withEntries = Effect.fn("Export.withEntries")(function* (
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

/** Refuses a selection that lies ahead, before anything is valued for it. Returns the books with entries of their own in it. */
export const refuseAhead = Effect.fn("Export.refuseAhead")(function* (
  books: ReadonlyArray<Book>,
  selection: Selection,
) {
  const contents = yield* contentsOf(
    books.map(({ bookId }) => bookId),
    selection,
  )
  if (books.length === 0 || books.some(({ bookId }) => contents.get(bookId)?.ahead !== true)) {
    return books.filter(({ bookId }) => contents.get(bookId)?.holds === true)
  }
  const codes = books.map(({ code }) => code).join(", ")
  return yield* exportError("Usage", `${selection.text} lies ahead in ${codes}. Nothing was written.`)
})

/** Without the bank statements of a book that has no entries: the base-currency journal may have something nevertheless. */
export const partsWith = Effect.fn("Export.partsWith")(function* (
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
