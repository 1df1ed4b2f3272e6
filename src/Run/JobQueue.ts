/**
 * Counts what waits for workers, from pg-boss's table but without loading pg-boss, which needs a newer Node than the commands
 * that show it.
 */
import { Effect } from "effect"
import { bool, float8, int4, nullable, type RowOf, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"

const queueColumns = {
  connection: text,
  /** Jobs that no worker has taken yet, or that are tried again. */
  waiting: int4,
  active: int4,
  /** Books that the workers gave up, until a later run has read them. */
  dead: int4,
  /** For how many seconds the longest-waiting job has waited; null if none waits. */
  oldest: nullable(float8),
}

export type JobQueue = RowOf<typeof queueColumns>

/** The count stops here, for each state. */
const mostCounted = 100_000

/** By connection; empty if nothing waits, is under way or was given up, or if there never was a worker. */
export const jobQueues = Effect.fn("Run.jobQueues")(function* () {
  const database = yield* Database
  const { there } = yield* database.row(
    "Run.queueThere",
    { there: bool },
    (sql) => sql`
      select exists (
        select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'jobs' and c.relname = 'job' and has_schema_privilege(n.oid, 'usage')
          and has_table_privilege(c.oid, 'select')) as there`,
  )
  const rows: ReadonlyArray<JobQueue> = yield* database.rows(
    "Run.jobQueues",
    queueColumns,
    (sql) => sql`
      select q.connection, sum(q.waiting)::integer as waiting, sum(q.active)::integer as active,
        sum(q.dead)::integer as dead, max(q.oldest)::float8 as oldest
      from (
        select b.connection, 0 as waiting, 0 as active, 1 as dead, null::float8 as oldest
        from sync.dead_letters d join mirror.books b on b.book_id = d.book_id
        ${
          there
            ? sql`
        union all
        (select coalesce(j.data ->> 'connection', ''), 1, 0, 0, extract(epoch from now() - j.created_on)
        from jobs.job j where j.name = 'books' and j.state in ('created', 'retry') limit ${mostCounted})
        union all
        (select coalesce(j.data ->> 'connection', ''), 0, 1, 0, null
        from jobs.job j where j.name = 'books' and j.state = 'active' limit ${mostCounted})`
            : sql``
        }) q
      group by q.connection order by q.connection`,
  )
  return rows.map((row): JobQueue => ({ ...row }))
})
