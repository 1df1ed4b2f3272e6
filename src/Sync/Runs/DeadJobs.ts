/** Jobs of books that workers gave up: facts behind the finding `dead-letter`. */
import { Effect } from "effect"
import type { Book } from "../../Book.ts"
import type { JobKind } from "../../Database/Tables/Sync.ts"
import { plainArray, textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import type { Days } from "../Backfill/Window.ts"

/** What a job did, or was to do. */
export type Work = { readonly kind: "sync" | "events" } | { readonly kind: "backfill"; readonly days: Days }

/** For each kind of job, the kinds whose work it does as well: a sync reads what events named. */
const covers: Readonly<Record<JobKind, ReadonlyArray<JobKind>>> = {
  sync: ["sync", "events"],
  events: ["events"],
  backfill: ["backfill"],
}

const daysOf = (work: Work): { readonly from: string | null; readonly to: string | null } =>
  work.kind === "backfill" ? work.days : { from: null, to: null }

/** Part of the transaction that gives the job up. If two backfills are given up, the days of both are left to do. */
export const noteDead = Effect.fn("Sync.noteDead")(function* (
  { bookId }: Book,
  work: Work,
  runId: number,
  { tries, why }: { readonly tries: number; readonly why: string },
) {
  const database = yield* Database
  const { from, to } = daysOf(work)
  yield* database.execute(
    "Sync.noteDead",
    (sql) => sql`
      insert into sync.dead_letters as d (book_id, kind, run_id, tries, why, from_day, to_day)
      values (${bookId}, ${work.kind}, ${runId}, ${tries}, ${why}, ${from}::text::date, ${to}::text::date)
      on conflict (book_id, kind) do update set run_id = excluded.run_id, tries = excluded.tries, why = excluded.why,
        given_up_at = excluded.given_up_at, from_day = least(d.from_day, excluded.from_day),
        to_day = greatest(d.to_day, excluded.to_day)`,
  )
})

/** The books were read to their end. Part of the caller's transaction, before they are proved. */
export const settleDead = Effect.fn("Sync.settleDead")(function* (books: ReadonlyArray<Book>, work: Work) {
  if (books.length === 0) return
  const database = yield* Database
  const { from, to } = daysOf(work)
  yield* database.execute(
    "Sync.settleDead",
    (sql) => sql`
      delete from sync.dead_letters
      where book_id = any(${plainArray(
        sql,
        books.map(({ bookId }) => String(bookId)),
      )}::integer[]) and kind = any(${textArray(sql, covers[work.kind])})
        and (from_day is null or from_day >= ${from}::text::date and to_day <= ${to}::text::date)`,
  )
})
