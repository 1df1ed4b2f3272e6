/**
 * Closing a month: only a month that is proved complete is locked. A close keeps the month's balances, a hash chained to the
 * previous close, and who closed it, when and why.
 */
import { Chunk, Effect, Option } from "effect"
import { refuseAhead } from "./Book/Ahead.ts"
import { archivesOf, refuseArchived, whereIs } from "./Book/Archived.ts"
import { chooseBooks } from "./Book/ChosenBooks.ts"
import { booksInSentence, inSentence } from "./Book/InSentence.ts"
import { allBooks, heldBooks } from "./Book.ts"
import { type Agreement, agreementOf } from "./Close/Agreement.ts"
import { bridgeOf } from "./Close/Bridge.ts"
import {
  type BookClose,
  type CloseRequest,
  closeBooks,
  closedAlready,
  waitsForEarlier,
} from "./Close/CloseBooks.ts"
import { closeError } from "./Close/CloseError.ts"
import { closesOf, type Doing, keepReopening, standingClose } from "./Close/CloseRecords.ts"
import { standsForLater } from "./Close/Gate.ts"
import { lockedWith } from "./Close/Locked.ts"
import { isClosed, type Month, readMonths, refusalOf } from "./Close/Month.ts"
import { inStage } from "./Common/Progress.ts"
import { count, counted, firstNames } from "./Common/Text.ts"
import { int4, text } from "./Database/Columns.ts"
import { textArray } from "./Database/TextArray.ts"
import { Database } from "./Database.ts"
import { Reconcile } from "./Reconcile.ts"

/** The named book, or all books with accounts. */
const chosenBooks = Effect.fn("Close.chosenBooks")(function* (wanted: Option.Option<string>) {
  const chosen = yield* chooseBooks(Option.none(), wanted)
  if (Option.isSome(wanted) || (yield* heldBooks(chosen)).length > 0) return chosen
  return yield* closeError(
    "Usage",
    "No book holds an account yet: there is nothing to close. Run tieout sync first.",
  )
})

/**
 * With the books without accounts whose findings are accepted here, if their acceptance stands for good: receivables may be all that
 * an organization's book has, and such a finding stays until a close of that book accepts it.
 */
const booksToClose = Effect.fn("Close.booksToClose")(function* ({ accept, book }: CloseRequest) {
  if (accept.length === 0 || Option.isSome(book)) return yield* chosenBooks(book)
  const database = yield* Database
  const rows = yield* database.rows(
    "Close.booksToClose",
    { book: int4 },
    (sql) => sql`
      select distinct f.book_id as book from reconcile.open_findings f
      where 'F' || f.finding_id = any (${textArray(
        sql,
        accept.map(({ id }) => id.toUpperCase()),
      )}) and ${standsForLater(sql)}`,
  )
  const all = yield* allBooks(Option.none())
  const held = new Set((yield* heldBooks(all)).map(({ bookId }) => bookId))
  const chosen = all.filter(({ bookId }) => held.has(bookId) || rows.some((row) => row.book === bookId))
  return chosen.length > 0 ? chosen : yield* chosenBooks(book)
})

/** Why a month cannot be closed, whatever its content: also that the close of a later month locked it. */
const refusalIn = Effect.fn("Close.refusalIn")(function* (month: Month) {
  const refusal = refusalOf(month)
  const locked = refusal?.reason === "AlreadyClosed" ? yield* lockedWith(month) : null
  return locked === null ? refusal : closeError("AlreadyClosed", `${locked} There is nothing to close.`)
})

/**
 * The months of the books, if one can be closed and no other is refused for more than an earlier month of its own that is open;
 * reports all refusals at once.
 */
const closableMonths = Effect.fn("Close.closableMonths")(function* (request: CloseRequest) {
  const { period } = request
  const months = yield* readMonths(yield* booksToClose(request), period)
  const refusals = (yield* Effect.forEach(months, refusalIn)).filter((refusal) => refusal !== null)
  const open = months.filter((month) => !isClosed(month))
  const forgiven = months.some((month) => refusalOf(month) === null)
    ? ["AlreadyClosed", "OutOfOrder"]
    : ["AlreadyClosed"]
  const grave = refusals.filter(({ reason }) => !forgiven.includes(reason))
  const reported = open.length === 0 ? refusals : grave
  const [first] = reported
  if (first === undefined) return months
  return yield* closeError(first.reason, reported.map(({ message }) => message).join("\n"))
})

/** How many of the findings that never were a message names. */
const mostShown = 10

/** Refuses acceptances of findings that never were: a mistyped number must not pass while the other books close. */
const refuseUnknown = Effect.fn("Close.refuseUnknown")(function* ({ accept, period }: CloseRequest) {
  if (accept.length === 0) return
  const database = yield* Database
  const named = [...new Set(accept.map(({ id }) => id))]
  const known = yield* database.rows(
    "Close.knownFindings",
    { id: text },
    (sql) => sql`
      select 'F' || finding_id as id from reconcile.findings
      where 'F' || finding_id = any (${textArray(
        sql,
        named.map((id) => id.toUpperCase()),
      )})`,
  )
  const found = new Set(known.map(({ id }) => id))
  const unknown = named.filter((name) => !found.has(name.toUpperCase()))
  if (unknown.length === 0) return
  const names = firstNames(
    unknown.map((id) => JSON.stringify(id.slice(0, 80))),
    mostShown,
  )
  return yield* closeError(
    "Usage",
    `--accept: there is no finding ${names}. Nothing was accepted or closed. To see what is in the way: tieout close ${period} --dry-run`,
  )
})

/** Books whose months close in one transaction. Their postings wait for it, some milliseconds for each book. */
const booksPerTransaction = 100

/**
 * Closes a month of one book or of all, some of one connection at a time: a blocked book does not stop the others. Fails with
 * `CloseError` before anything is locked where the month cannot be closed, whatever its content, or where
 * an acceptance names no finding.
 */
export const close = Effect.fn("Close.close")(function* (request: CloseRequest) {
  const months = yield* closableMonths(request)
  yield* refuseUnknown(request)
  const results = new Map<string, BookClose>()
  for (const month of months.filter(isClosed)) results.set(month.book.code, yield* closedAlready(month))
  for (const month of months.filter((month) => !isClosed(month))) {
    const waits = waitsForEarlier(month)
    if (waits !== null) results.set(month.book.code, waits)
  }
  const open = months.map(({ book }) => book).filter(({ code }) => !results.has(code))
  for (const connection of new Set(open.map((book) => book.connection))) {
    const books = open.filter((book) => book.connection === connection)
    for (const some of Chunk.chunksOf(Chunk.fromIterable(books), booksPerTransaction)) {
      const closed = yield* closeBooks(connection, Chunk.toReadonlyArray(some), request).pipe(
        inStage("close", () => `${count(results.size)} of ${counted(months.length, "book")}`),
      )
      for (const result of closed) results.set(result.book, result)
    }
  }
  // Somebody else has closed all of them meanwhile: refused as it would be now.
  if ([...results.values()].every(({ state }) => state === "already closed")) yield* closableMonths(request)
  return months.flatMap(({ book }) => results.get(book.code) ?? [])
})

/** The closed months of the books, also of one without accounts; fails where there is none. */
const closedMonths = Effect.fn("Close.closedMonths")(function* (book: Option.Option<string>, period: string) {
  const chosen = yield* chosenBooks(book)
  const months = yield* readMonths(Option.isSome(book) ? chosen : yield* allBooks(Option.none()), period)
  const closed = months.filter(isClosed)
  if (closed.length > 0) return closed
  const codes = booksInSentence(chosen)
  return yield* closeError(
    "NotClosed",
    `${period} is not closed in ${codes === "" ? "any book" : codes}. To close it: tieout close ${period}${Option.isSome(book) ? ` --book ${codes}` : ""}`,
  )
})

/** Reopens the latest closed month. Fails with `CloseError` where `period` is another month. */
export const reopen = Effect.fn("Close.reopen")(function* (
  period: string,
  book: Option.Option<string>,
  doing: Doing,
) {
  const database = yield* Database
  const months = yield* closedMonths(book, period)
  const archives = yield* archivesOf(months.map(({ book: { bookId } }) => bookId))
  const archived = archives.filter(({ through }) => period <= through)
  if (archived.length > 0) {
    const reasons = archived.map((one) => `of ${one.book} it is in ${whereIs(one)}`)
    return yield* closeError("Archived", `${period} is archived and stays closed: ${reasons.join("; ")}.`)
  }
  const later = months.filter(({ closedThrough }) => closedThrough !== period)
  if (later.length > 0) {
    const reasons = later.map((month) => `${month.book.code} is closed through ${month.closedThrough}`)
    return yield* closeError(
      "OutOfOrder",
      `${period} cannot be reopened: ${inSentence(reasons)}, and only the latest closed month can be.`,
    )
  }
  const { month: reconcileMonth } = yield* Reconcile
  const reopenings = Effect.forEach(months, (month) =>
    Effect.gen(function* () {
      const [now] = yield* readMonths([month.book], period, true)
      if (now?.closedThrough !== period) {
        return yield* closeError("NotClosed", `${period} of ${month.book.code} was reopened meanwhile.`)
      }
      const undone = standingClose(yield* closesOf(month.book), period)
      const sequence = yield* keepReopening(month.book, undone ?? { period, hash: null }, doing)
      return { book: month.book.code, period, sequence, undone: undone?.hash ?? null }
    }),
  )
  // What concerns open months alone was closed with the month, and no sync looks at it again while nothing of it changes.
  const reconciled = reconcileMonth(
    months.map(({ book: one }) => one),
    period,
  )
  return yield* database.transaction(Effect.zipLeft(reopenings, reconciled))
})

const inOneSnapshot = { isolation: "repeatable read", readOnly: true } as const

/** Compares closed months with what they were closed with. */
export const check = Effect.fn("Close.check")(function* (period: string, book: Option.Option<string>) {
  const database = yield* Database
  const months = yield* closedMonths(book, period)
  const agreements: Array<Agreement> = yield* Effect.forEach(months, (month) =>
    database.transaction(agreementOf(month), inOneSnapshot),
  )
  return agreements
})

/** The bridge from the provider's statement to the books, for a month, closed or not. */
export const bridge = Effect.fn("Close.bridge")(function* (period: string, book: Option.Option<string>) {
  const database = yield* Database
  const months = yield* readMonths(yield* chosenBooks(book), period)
  const ids = months.map(({ book: { bookId } }) => bookId)
  yield* refuseArchived(ids, period)
  yield* refuseAhead(ids, period)
  return yield* Effect.forEach(months, (month) => database.transaction(bridgeOf(month), inOneSnapshot))
})
