/** Months without a close of their own, which the close of a later month locked, such as those before a book's first close. */
import { and, eq } from "drizzle-orm"
import { Effect } from "effect"
import { counted } from "../Common/Text.ts"
import { journalEntries } from "../Database/Tables/Ledger.ts"
import { Database } from "../Database.ts"
import { closesOf } from "./CloseRecords.ts"
import { isClosed, type Month } from "./Month.ts"

/**
 * A sentence that says which close locked the month; null: the month is open, has a close of its own, or was closed without
 * Tieout.
 */
export const lockedWith = Effect.fn("Close.lockedWith")(function* (month: Month) {
  const { book, period } = month
  if (!isClosed(month)) return null
  const closes = yield* closesOf(book)
  if (closes.some((close) => close.period === period)) return null
  const later = closes.find((close) => close.action === "close" && close.period > period)
  if (later === undefined) return null
  const database = yield* Database
  const inMonth = and(eq(journalEntries.bookId, book.bookId), eq(journalEntries.period, `${period}-01`))
  const count = yield* database.orm("Close.lockedWith", (orm) => orm.$count(journalEntries, inMonth))
  const entries = counted(count, "entry", "entries")
  return closes.every((close) => close.period > period)
    ? `${period} lies before the first close of ${book.code}, ${later.period}: it was locked with it, with ${entries}.`
    : `${period} of ${book.code} has no close of its own: it was locked with ${later.period}, with ${entries}.`
})
