/** The latest runs, and when each connection was last read completely. */
import { Effect, Either, Schema } from "effect"
import type { Sql } from "../../Database/Client.ts"
import { float8, int4, json, nullable, type RowOf, text } from "../../Database/Columns.ts"
import { runCommands } from "../../Database/Tables/Sync.ts"
import { textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import { stateOf } from "../../Run/Vanished.ts"

const runColumns = {
  runId: int4,
  connection: text,
  command: text,
  /** `running`, `done`, `failed`, `stopped`, `abandoned`. */
  state: text,
  /** Epoch milliseconds. */
  startedAt: float8,
  /** Seconds; for a run under way, so far. Null for one that was abandoned: when it ended is known to nobody. */
  seconds: nullable(float8),
  exitCode: nullable(int4),
}

export type RunRow = RowOf<typeof runColumns>

export interface ConnectionRuns {
  readonly connection: string
  /** The last sync; null where there was none. */
  readonly last: RunRow | null
  /** When the last sync that read the whole connection and succeeded ended, epoch milliseconds. */
  readonly lastSuccessAt: number | null
  /** Runs that were started within a day, by state; without those that only took events. */
  readonly lastDay: Readonly<Record<string, number>>
  /** The last sync's requests by kind of endpoint, retries included; empty where not known. */
  readonly requests: Readonly<Record<string, number>>
}

/**
 * How long a run `r` took. An abandoned one has the time at which the next run found it, days later perhaps; and a clock that was set
 * back makes no time negative.
 */
const secondsOf = (sql: Sql, vanished: ReadonlyArray<number>) => sql`
  case when ${stateOf(sql, vanished)} <> 'abandoned'
    then greatest(extract(epoch from coalesce(r.ended_at, now()) - r.started_at), 0)::float8 end`

const countedCommands = runCommands.filter((command) => command !== "events")
/** Runs of one command that are counted. */
const lookBack = 1_000
/** Runs that the chart shows. */
export const charted = 40

/** The last runs of all connections, the newest first, as `vanishedRuns` knows them; without those that only took events. */
export const recentRuns = Effect.fn("Overview.recentRuns")(function* (vanished: ReadonlyArray<number>) {
  const database = yield* Database
  return yield* database.rows(
    "Overview.recentRuns",
    runColumns,
    (sql) => sql`
      select r.run_id as "runId", r.connection, r.command, ${stateOf(sql, vanished)} as state, r.exit_code as "exitCode",
        (extract(epoch from r.started_at) * 1000)::float8 as "startedAt", ${secondsOf(sql, vanished)} as seconds
      from sync.runs r where r.command <> 'events' order by r.run_id desc limit ${charted}`,
  )
})

const Summary = Schema.Struct({
  requests: Schema.Record({ key: Schema.String, value: Schema.NonNegativeInt }),
})
const decodeSummary = Schema.decodeUnknownEither(Summary)

/** All null where nothing has run yet. */
const connectionColumns = {
  connection: text,
  runId: nullable(int4),
  command: nullable(text),
  state: nullable(text),
  startedAt: nullable(float8),
  seconds: nullable(float8),
  exitCode: nullable(int4),
  summary: json,
  lastSuccess: nullable(float8),
}

const lastOf = (row: RowOf<typeof connectionColumns>): RunRow | null => {
  const { command, connection, exitCode, runId, seconds, startedAt, state } = row
  return runId === null || command === null || state === null || startedAt === null
    ? null
    : { runId, connection, command, state, startedAt, seconds, exitCode }
}

/** Every connection that ever ran, by name, with its runs as `vanishedRuns` knows them. */
export const connectionRuns = Effect.fn("Overview.connectionRuns")(function* (
  vanished: ReadonlyArray<number>,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Overview.connectionRuns",
    connectionColumns,
    (sql) => sql`
      select c.connection, r.run_id as "runId", r.command, ${stateOf(sql, vanished)} as state, r.exit_code as "exitCode",
        r.summary - 'newEntries' as summary, (extract(epoch from r.started_at) * 1000)::float8 as "startedAt",
        ${secondsOf(sql, vanished)} as seconds,
        (extract(epoch from s.ended_at) * 1000)::float8 as "lastSuccess"
      from sync.connections c
      left join lateral sync.last_sync(c.connection) r on true
      left join lateral sync.last_success(c.connection) s on true
      order by c.connection`,
  )
  const states = yield* database.rows(
    "Overview.lastDay",
    { connection: text, state: text, runs: int4 },
    (sql) => sql`
      select c.connection, ${stateOf(sql, vanished)} as state, count(*)::integer as runs
      from sync.leases c
      cross join unnest(${textArray(sql, countedCommands)}) as k (command)
      join lateral (
        select x.run_id, x.state, x.started_at from sync.runs x where x.connection = c.connection and x.command = k.command
        order by x.run_id desc limit ${lookBack}) r on r.started_at > now() - interval '1 day'
      where c.book_id = 0
      group by 1, 2`,
  )
  return rows.map((row): ConnectionRuns => {
    const summary = decodeSummary(row.summary)
    const own = states.filter(({ connection }) => connection === row.connection)
    return {
      connection: row.connection,
      last: lastOf(row),
      lastSuccessAt: row.lastSuccess,
      lastDay: Object.fromEntries(own.map(({ runs, state }) => [state, runs])),
      requests: Either.isRight(summary) ? summary.right.requests : {},
    }
  })
})
