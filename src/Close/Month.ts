/** A month of one book: whether it is over, open or closed, and whether an earlier month is open. */
import { Effect } from "effect"
import type { Book } from "../Book.ts"
import type { Sql } from "../Database/Client.ts"
import { bool, int4, nullable, type RowOf, text } from "../Database/Columns.ts"
import { plainArray, textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import { lockBooks } from "../Ledger/LockBooks.ts"
import { Settings } from "../Settings.ts"
import { type CloseError, closeError } from "./CloseError.ts"

const stateColumns = {
  bookId: int4,
  /** The first instant after the month in the book's time zone, ISO 8601 in UTC. */
  end: text,
  timeZone: text,
  over: bool,
  closedThrough: nullable(text),
  /** The earliest month before it that has entries and is open. */
  earlierOpen: nullable(text),
}

/** Months are `2026-10`. */
export interface Month extends Omit<RowOf<typeof stateColumns>, "bookId"> {
  readonly book: Book
  readonly period: string
}

/**
 * A month of each book, in their order. Part of the caller's transaction, where there is one. `lock`: keeps out all postings of the
 * books until the transaction ends.
 */
export const readMonths = Effect.fn("Close.readMonths")(function* (
  books: ReadonlyArray<Book>,
  period: string,
  lock = false,
) {
  const database = yield* Database
  const { accounting } = yield* Settings
  const first = `${period}-01`
  const ids = books.map(({ bookId }) => String(bookId))
  if (lock) yield* lockBooks(books)
  const rows = yield* database.rows(
    "Close.readMonths",
    stateColumns,
    (sql) => sql`
      select l.book_id as "bookId", z.zone as "timeZone",
        to_char(e.ends at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as end,
        now() >= e.ends as over, to_char(l.closed_through, 'YYYY-MM') as "closedThrough",
        (select to_char(min(p.period), 'YYYY-MM') from ledger.periods p
         where p.book_id = l.book_id and p.status = 'open' and p.period < ${first}::text::date) as "earlierOpen"
      from ledger.locks l
      cross join lateral (select coalesce(l.time_zone, ${accounting.timeZone}::text) as zone) z
      cross join lateral (
        select ledger.begin_of_day((${first}::text::date + interval '1 month')::date, z.zone) as ends) e
      where l.book_id = any (${plainArray(sql, ids, "int4")})`,
  )
  const states = new Map(rows.map(({ bookId, ...state }) => [bookId, state]))
  const months: Array<Month> = []
  for (const book of books) {
    const state = states.get(book.bookId)
    if (state === undefined) return yield* Effect.dieMessage(`book ${book.code} has no ledger`)
    months.push({ book, period, ...state })
  }
  return months
})

/** The months as a relation: the book, the end of its month, its time zone. */
export const monthsIn = (sql: Sql, months: ReadonlyArray<Month>) => {
  const ids = months.map(({ book }) => String(book.bookId))
  const ends = months.map(({ end }) => end)
  const zones = months.map(({ timeZone }) => timeZone)
  return sql`
    unnest(${plainArray(sql, ids, "int4")}, ${plainArray(sql, ends, "timestamptz")}, ${textArray(sql, zones)})
      as m (book_id, ends, zone)`
}

/** The month of one book. */
export const readMonth = Effect.fn("Close.readMonth")(function* (book: Book, period: string) {
  const [month] = yield* readMonths([book], period)
  return month ?? (yield* Effect.dieMessage(`book ${book.code} has no ledger`))
})

export const isClosed = ({ closedThrough, period }: Month): boolean =>
  closedThrough !== null && period <= closedThrough

/** That an earlier month is open, which comes first, and the command that closes it; null: none is. */
export const earlierFirst = ({ book, earlierOpen, period }: Month) =>
  earlierOpen === null
    ? null
    : {
        what: `${period} of book ${book.code} cannot be closed while ${earlierOpen} is open: months close in order.`,
        hint: `tieout close ${earlierOpen} --book ${book.code}`,
      }

/** Why the month cannot be closed, whatever its content; null: it can. */
export const refusalOf = (month: Month): CloseError | null => {
  const { book, closedThrough, end, period, timeZone } = month
  if (!month.over) {
    return closeError(
      "Usage",
      `${period} of book ${book.code} is not over before ${end} (${timeZone}): only a month that is over can be closed.`,
    )
  }
  if (isClosed(month)) {
    return closeError(
      "AlreadyClosed",
      `${period} of book ${book.code} is closed already; the book is closed through ${closedThrough}. See whether it still agrees: tieout close ${period} --book ${book.code} --check`,
    )
  }
  const earlier = earlierFirst(month)
  return earlier === null ? null : closeError("OutOfOrder", `${earlier.what} First: ${earlier.hint}`)
}
