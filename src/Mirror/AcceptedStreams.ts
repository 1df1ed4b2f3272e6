import { Effect } from "effect"
import { isIn } from "../Book/ByBook.ts"
import { int4, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"

export const streamOfBook = (bookId: number, stream: string): string => `${bookId} ${stream}`

/** Streams of these books whose rows in quarantine a close accepted for good, each with that close's month (`2026-10`). */
export const acceptedStreams = Effect.fn("Mirror.acceptedStreams")(function* (
  bookIds: ReadonlyArray<number>,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Mirror.acceptedStreams",
    { book_id: int4, stream: text, month: text },
    (sql) => sql`
      select k.book_id, k.subject_id as stream, to_char(k.period, 'YYYY-MM') as month
      from reconcile.accepted_findings k where k.check_name = 'quarantine' and k.book_id ${isIn(sql, bookIds)}`,
  )
  return new Map(rows.map(({ book_id: bookId, month, stream }) => [streamOfBook(bookId, stream), month]))
})
