/** Jobs of books that workers gave up: facts behind the finding `dead-letter`. */
import { Effect } from "effect"
import type { Book } from "../../Book.ts"
import type { JobKind } from "../../Database/Tables/Sync.ts"
import { plainArray, textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"

/** Kinds whose work a job of a kind does as well: a sync reads what the events named. */
const covers: Readonly<Record<JobKind, ReadonlyArray<JobKind>>> = {
  sync: ["sync", "events"],
  events: ["events"],
  backfill: ["backfill"],
}

/** Part of the transaction that gives the job up. */
export const noteDead = Effect.fn("Sync.noteDead")(function* (
  { bookId }: Book,
  kind: JobKind,
  runId: number,
  { tries, why }: { readonly tries: number; readonly why: string },
) {
  const database = yield* Database
  yield* database.execute(
    "Sync.noteDead",
    (sql) => sql`
      insert into sync.dead_letters (book_id, kind, run_id, tries, why)
      values (${bookId}, ${kind}, ${runId}, ${tries}, ${why})
      on conflict (book_id, kind) do update set run_id = excluded.run_id, tries = excluded.tries, why = excluded.why,
        given_up_at = excluded.given_up_at`,
  )
})

/** The books were read to their end. Part of the caller's transaction, before they are proved. */
export const settleDead = Effect.fn("Sync.settleDead")(function* (books: ReadonlyArray<Book>, kind: JobKind) {
  if (books.length === 0) return
  const database = yield* Database
  yield* database.execute(
    "Sync.settleDead",
    (sql) => sql`
      delete from sync.dead_letters
      where book_id = any(${plainArray(
        sql,
        books.map(({ bookId }) => String(bookId)),
      )}::integer[]) and kind = any(${textArray(sql, covers[kind])})`,
  )
})
