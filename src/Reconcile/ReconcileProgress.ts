/** How far the changes of each book have been reconciled. */
import { Effect, Option } from "effect"
import type { Book } from "../Book.ts"
import type { Sql } from "../Database/Client.ts"
import { arrayOf, int4 } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import type { Fragment } from "./ReconcileScope.ts"

/** Books of one connection whose next reconciliation covers the same runs. */
export interface Stretch {
  readonly books: ReadonlyArray<number>
  /** All runs up to this one are reconciled already, by the same settings; 0: none. */
  readonly reconciled: number
  /** The reconciliation covers all runs up to this one. */
  readonly through: number
  /** For each book, in their order, the last batch before the reconciliation began, up to which it covers all; 0: none. */
  readonly batches: ReadonlyArray<number>
}

/**
 * Condition on a run `r` and a book's progress `p`: the run has booked what nobody has proved since. Only a backfill writes beside
 * later runs, and one that is stopped proves nothing: the book may be covered through a run behind it.
 */
export const isUnproved = (sql: Sql): Fragment =>
  sql`r.command = 'backfill' and r.state <> 'done' and coalesce(r.ended_at, 'infinity') > p.reconciled_at`

/**
 * Part of the caller's transaction: locks the books until it ends, so that two reconciliations of one book do not overlap.
 * Returns how far they can be reconciled now: up to `runId`, which has finished reading, or else up to the last run, but not
 * past a run that is still going, because it may yet commit changes. A run that a later one has overtaken commits nothing more
 * (it has lost the lease).
 */
export const takeBooks = Effect.fn("Reconcile.takeBooks")(function* (
  books: ReadonlyArray<Book>,
  runId: Option.Option<number>,
  /** What the settings say of the checks. */
  settings: string,
  /**
   * Other processes take part in the run, so it may yet commit changes to the books and is not covered before `coverRun`. A
   * later run, such as one for an event during a night, may be covered already: what this run has read is checked all the same.
   */
  isShared = false,
) {
  const database = yield* Database
  const ids = `{${books.map(({ bookId }) => bookId).join(",")}}`
  const run = Option.getOrNull(runId)
  yield* database.execute(
    "Reconcile.takeBooks.begin",
    (sql) => sql`
      insert into reconcile.progress as p (book_id, through_run)
      select b, 0 from unnest(${ids}::integer[]) b order by b
      -- Findings of a part of the book may follow these settings from now on, so that by no others all of them are known.
      on conflict (book_id) do update set settings = null where p.settings <> ${settings}`,
  )
  yield* database.execute(
    "Reconcile.takeBooks.lock",
    (sql) => sql`
      select 1 from reconcile.progress where book_id = any (${ids}::integer[]) order by book_id for update`,
  )
  // After the lock, to see another reconciliation's progress; before the checks, so that no later run counts as covered.
  const rows = yield* database.rows(
    "Reconcile.takeBooks",
    { books: arrayOf(int4), reconciled: int4, through: int4, batches: arrayOf(int4) },
    (sql) => sql`
      select array_agg(s.book_id order by s.book_id) as books, s.reconciled, s.through,
        array_agg(s.batch order by s.book_id) as batches
      from (
        select p.book_id, coalesce((select max(x.batch) from export.batches x where x.book_id = p.book_id), 0) as batch,
          case when p.settings is distinct from ${settings} then 0
            else least(p.through_run, case when ${isShared}::boolean then ${run}::integer - 1 end, (
              -- One that still runs proves by itself what it books.
              select min(r.run_id) - 1 from sync.runs r
              where r.connection = b.connection and ${isUnproved(sql)} and r.state <> 'running')) end as reconciled,
          greatest(p.through_run, least(
          coalesce(${run}::integer,
            (select max(r.run_id) from sync.runs r where r.connection = b.connection), 0),
          (select coalesce((
               select x.run_id from sync.runs x where x.connection = b.connection and x.run_id < min(r.run_id)
               order by x.run_id desc limit 1), 0)
           from sync.runs r
           where r.connection = b.connection and r.state = 'running'
             and (${isShared}::boolean or r.run_id is distinct from ${run}::integer)
             and not exists (select 1 from sync.leases l where l.connection = r.connection
               and l.book_id in (0, p.book_id) and l.run_id > r.run_id)
           having count(*) > 0))) as through
        from reconcile.progress p join mirror.books b on b.book_id = p.book_id
        where p.book_id = any (${ids}::integer[])) s
      group by s.reconciled, s.through order by s.reconciled, s.through`,
  )
  return rows satisfies ReadonlyArray<Stretch>
})

/** Part of the caller's transaction. */
export const saveProgress = Effect.fn("Reconcile.saveProgress")(function* (
  stretch: Stretch,
  settings: string,
) {
  const database = yield* Database
  yield* database.execute(
    "Reconcile.saveProgress",
    (sql) => sql`
      update reconcile.progress p set reconciled_at = now(), settings = ${settings}, through_run = ${stretch.through},
        through_batch = greatest(p.through_batch, t.batch)
      from unnest(${`{${stretch.books.join(",")}}`}::integer[], ${`{${stretch.batches.join(",")}}`}::integer[])
        as t (book_id, batch)
      where p.book_id = t.book_id`,
  )
})

/**
 * Records that a shared run has been reconciled in these books: nothing writes to them for that run any more. Part of the
 * caller's transaction.
 */
export const coverRun = Effect.fn("Reconcile.coverRun")(function* (
  books: ReadonlyArray<Book>,
  runId: number,
) {
  const database = yield* Database
  const ids = `{${books.map(({ bookId }) => bookId).join(",")}}`
  yield* database.execute(
    "Reconcile.coverRun",
    (sql) => sql`
      update reconcile.progress set through_run = greatest(through_run, ${runId})
      where book_id = any (${ids}::integer[])`,
  )
})
