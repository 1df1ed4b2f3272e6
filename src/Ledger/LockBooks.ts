import { Effect } from "effect"
import type { Book } from "../Book.ts"
import { plainArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"

/** Keeps out all postings, numberings, closes and approvals of the books until the caller's transaction ends. */
export const lockBooks = Effect.fn("Ledger.lockBooks")(function* (books: ReadonlyArray<Book>) {
  const database = yield* Database
  const ids = books.map(({ bookId }) => String(bookId))
  yield* database.execute(
    "Ledger.lockBooks",
    (sql) => sql`
      select 1 from ledger.locks where book_id = any (${plainArray(sql, ids, "int4")}) order by book_id for update`,
  )
})
