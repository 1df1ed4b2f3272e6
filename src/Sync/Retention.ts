/** Forgets, in time, what is no part of the books: `retention` in the settings. What must stay, `drizzle/rules.sql` keeps. */
import { Duration, Effect } from "effect"
import { int4 } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { Settings } from "../Settings.ts"

/** Rows of one kind that are forgotten at once; the rest waits for the next time. */
const rowsPerDelete = 20_000

const seconds = (span: Duration.Duration): number => Duration.toSeconds(span)

/** Runs that ended long ago; those that only took events sooner. Gives how many. */
export const forgetRuns = Effect.fn("Sync.forgetRuns")(function* () {
  const database = yield* Database
  const { eventRuns, runs } = (yield* Settings).retention
  const { forgotten } = yield* database.row(
    "Sync.forgetRuns",
    { forgotten: int4 },
    (sql) => sql`
      select sync.forget_runs(make_interval(secs => ${seconds(runs)}::float8),
        make_interval(secs => ${seconds(eventRuns)}::float8), ${rowsPerDelete}::integer) as forgotten`,
  )
  return forgotten
})

/**
 * Events that were done, or given up, so long ago that no duplicate of them will come any more. What they were about has been read by
 * every nightly sync since. The latter are kept for a month at least. Gives how many.
 */
export const forgetEvents = Effect.fn("Sync.forgetEvents")(function* (age: Duration.Duration) {
  const database = yield* Database
  return yield* database.execute(
    "Sync.forgetEvents",
    (sql) => sql`
      delete from webhook.inbox where (connection, event_id, digest) in (
        select connection, event_id, digest from webhook.inbox
        where received_at < now() - make_interval(secs => ${seconds(age)})
          and (state = 'done' or state in ('dead', 'poison') and received_at < now() - interval '30 days')
        limit ${rowsPerDelete})`,
  )
})

/** Runs, closed findings, page boundaries and events. Gives how many of each. */
export const forget = Effect.fn("Sync.forget")(function* () {
  const database = yield* Database
  const { boundaries, findings, inbox } = (yield* Settings).retention
  const events = yield* forgetEvents(inbox)
  const runs = yield* forgetRuns()
  const found = yield* database.row(
    "Sync.forgetFindings",
    { forgotten: int4 },
    (sql) => sql`
      select reconcile.forget_findings(make_interval(secs => ${seconds(findings)}::float8), ${rowsPerDelete}::integer) as forgotten`,
  )
  const pages = yield* database.row(
    "Sync.forgetBoundaries",
    { forgotten: int4 },
    (sql) => sql`
      select sync.forget_boundaries(make_interval(secs => ${seconds(boundaries)}::float8), ${rowsPerDelete}::integer) as forgotten`,
  )
  return { runs, findings: found.forgotten, boundaries: pages.forgotten, events }
})
