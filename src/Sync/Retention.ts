/**
 * Deletes old rows that are not part of the books, by `retention` in the settings. `drizzle/rules.sql` keeps the ones that must
 * stay.
 */
import { Duration, Effect } from "effect"
import { int4 } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { Settings } from "../Settings.ts"

/** Rows of one kind that are deleted at one time; the rest waits for the next. */
const rowsPerDelete = 20_000

const seconds = (span: Duration.Duration): number => Duration.toSeconds(span)

/** Deletes runs that ended long ago, and sooner those that only took events. Returns how many. */
const forgetRuns = Effect.fn("Sync.forgetRuns")(function* () {
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
 * Deletes events that were done, or given up, so long ago that no duplicate of them will come any more. Every nightly sync
 * since has read what they were about. Those given up are kept for at least a month. Returns how many.
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

/** Deletes old runs, closed findings, page boundaries and events. Returns how many of each. */
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
