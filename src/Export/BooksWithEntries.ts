/** Which of the chosen books have something to export: an empty batch would take a number and say nothing. */
import { Effect } from "effect"
import { booksInSentence } from "../Book/InSentence.ts"
import type { Book } from "../Book.ts"
import { settingsOf } from "../Format/FormatSettings.ts"
import { bankStatementsOf } from "../Format/Formats.ts"
import type { AskedBook } from "./BookExport.ts"
import { exportError } from "./ExportError.ts"
import type { Selection } from "./Request/ExportScope.ts"
import { contentsOf } from "./Request/Selected.ts"
import type { ExportRequest, RequestPart } from "./Request.ts"
import { booksWithBankDays } from "./Source/BankStatements.ts"

/** The bank statements of a request, without its other formats; undefined: it asks for none. */
const banksAlone = (parts: ReadonlyArray<RequestPart>): RequestPart | undefined => {
  const part = parts.find(({ formats }) => bankStatementsOf(formats).length > 0)
  if (part === undefined) return undefined
  return { ...part, formats: part.formats.filter((name) => bankStatementsOf([name]).length > 0) }
}

/**
 * Of books without entries of the selection, those whose bank statements say something all the same: a late entry is dated to another
 * month than its day.
 */
const speakingAlone = Effect.fn("Export.speakingAlone")(function* (
  books: ReadonlyArray<Book>,
  selection: Selection,
  banks: RequestPart | undefined,
) {
  if (banks === undefined || books.length === 0) return new Set<number>()
  const asked = books.map(({ bookId, code }) => ({
    ...{ bookId, leaveOut: settingsOf(banks.options.settings, code).leaveOut },
  }))
  return yield* booksWithBankDays(asked, selection)
})

/**
 * The books that have something of the selection, and the codes of those that have nothing. Fails where none has: an empty batch
 * would take a number and say nothing. In the base currency this is asked once the books are valued, since that journal has
 * revaluations and their reversals even in a month without other entries.
 */
export const withEntries = Effect.fn("Export.withEntries")(function* (
  books: ReadonlyArray<Book>,
  selection: Selection | null,
  parts: ReadonlyArray<RequestPart>,
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
  const without = books.filter(({ bookId }) => contents.get(bookId)?.holds !== true)
  const speaking = yield* speakingAlone(without, selection, banksAlone(parts))
  const empty = without.filter(({ bookId }) => !speaking.has(bookId))
  const chosen = books.filter((book) => !empty.includes(book))
  if (chosen.length > 0) return { chosen, empty: empty.map(({ code }) => code) }
  const isAhead = empty.every(({ bookId }) => contents.get(bookId)?.ahead === true)
  const what = isAhead ? "lies ahead" : "has no entries"
  const codes = booksInSentence(empty)
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
  const codes = booksInSentence(books)
  return yield* exportError("Usage", `${selection.text} lies ahead in ${codes}. Nothing was written.`)
})

/**
 * What is written of each book: of one that has no entries of its own what the base-currency journal has nevertheless, and its bank
 * statements.
 */
export const partsWith = Effect.fn("Export.partsWith")(function* (
  books: ReadonlyArray<Book>,
  selection: Selection | null,
  parts: ReadonlyArray<RequestPart>,
) {
  const banks = banksAlone(parts)
  if (selection === null || (parts.length === 1 && banks === undefined))
    return books.map((book): AskedBook => ({ book, parts }))
  const ids = books.map(({ bookId }) => bookId)
  const own = yield* contentsOf(ids, selection)
  const without = books.filter(({ bookId }) => own.get(bookId)?.holds !== true)
  const speaking = yield* speakingAlone(without, selection, banks)
  const inBase = parts.filter(({ base }) => base !== undefined)
  const valued =
    banks === undefined || inBase.length === 0 ? undefined : yield* contentsOf(ids, selection, true)
  const native = parts.filter(({ base }) => base === undefined).flatMap(({ formats }) => formats)
  return yield* Effect.forEach(books, (book) => {
    if (!without.includes(book)) return Effect.succeed<AskedBook>({ book, parts })
    const kept = banks !== undefined && speaking.has(book.bookId) ? [banks] : []
    const written = kept.flatMap(({ formats }) => formats)
    const left = native.filter((name) => !written.includes(name))
    const hasValue = valued === undefined || valued.get(book.bookId)?.holds === true
    const asked: AskedBook = { book, parts: [...(hasValue ? inBase : []), ...kept] }
    if (left.length === 0) return Effect.succeed(asked)
    const what = `${book.code} has no entries in ${selection.text}: ${left.join(", ")} is left out of it.`
    return Effect.as(Effect.logWarning(what), asked)
  })
})
