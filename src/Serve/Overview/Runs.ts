/** What ran, and when each connection was last read as a whole. */
import { Effect, Either, Schema } from "effect"
import { Database } from "../../Database.ts"

export interface RunRow {
  readonly runId: number
  readonly connection: string
  readonly command: string
  /** `running`, `done`, `failed`, `stopped`, `abandoned`. */
  readonly state: string
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** Seconds; of a run under way, so far. */
  readonly seconds: number
  readonly exitCode: number | null
}

export interface ConnectionRuns {
  readonly connection: string
  /** The last sync; null where there was none. */
  readonly last: RunRow | null
  /** When the last sync that read the whole connection and succeeded ended, epoch milliseconds. */
  readonly lastSuccessAt: number | null
  /** Runs that were started within a day, by state. */
  readonly lastDay: Readonly<Record<string, number>>
  /** What the last sync asked the service for, by kind of endpoint, retries included; empty where it is not known. */
  readonly requests: Readonly<Record<string, number>>
}

/** Older runs of a connection than this many are not looked through. */
const lookBack = 1_000
/** Runs that the chart shows. */
export const charted = 40

interface Row {
  readonly run_id: number
  readonly connection: string
  readonly command: string
  readonly state: string
  readonly started_at: number
  readonly seconds: number
  readonly exit_code: number | null
}

const runOf = (row: Row): RunRow => ({
  runId: row.run_id,
  connection: row.connection,
  command: row.command,
  state: row.state,
  startedAt: row.started_at,
  seconds: row.seconds,
  exitCode: row.exit_code,
})

/** The last runs of all connections, the newest first. */
export const recentRuns = Effect.fn("Overview.recentRuns")(function* () {
  const database = yield* Database
  const rows = yield* database.query(
    "Overview.recentRuns",
    (sql) => sql<Array<Row>>`
      select run_id, connection, command, state, exit_code, (extract(epoch from started_at) * 1000)::float8 as started_at,
        extract(epoch from coalesce(ended_at, now()) - started_at)::float8 as seconds
      from sync.runs order by run_id desc limit ${charted}`,
  )
  return rows.map(runOf)
})

const Summary = Schema.Struct({
  requests: Schema.Record({ key: Schema.String, value: Schema.NonNegativeInt }),
})
const decodeSummary = Schema.decodeUnknownEither(Summary)

interface ConnectionRow extends Omit<Row, "run_id"> {
  /** Null where nothing ran yet. */
  readonly run_id: number | null
  readonly summary: unknown
  readonly last_success: number | null
}

/** Every connection that ever ran, by name. */
export const connectionRuns = Effect.fn("Overview.connectionRuns")(function* () {
  const database = yield* Database
  const rows = yield* database.query(
    "Overview.connectionRuns",
    (sql) => sql<Array<ConnectionRow>>`
      select c.connection, r.run_id, r.command, r.state, r.exit_code, r.summary - 'newEntries' as summary,
        (extract(epoch from r.started_at) * 1000)::float8 as started_at,
        extract(epoch from coalesce(r.ended_at, now()) - r.started_at)::float8 as seconds,
        (extract(epoch from s.ended_at) * 1000)::float8 as last_success
      from sync.connections c
      left join lateral sync.last_sync(c.connection) r on true
      left join lateral (
        select x.ended_at from (
          select * from sync.runs y where y.connection = c.connection order by y.run_id desc limit ${lookBack}) x
        where x.command = 'sync' and x.state = 'done' and coalesce(x.summary ->> 'partial', '') <> 'true' order by x.run_id desc limit 1) s on true
      order by c.connection`,
  )
  const states = yield* database.query(
    "Overview.lastDay",
    (sql) => sql<Array<{ connection: string; state: string; runs: number }>>`
      select c.connection, r.state, count(*)::integer as runs
      from sync.leases c
      cross join lateral (
        select x.state, x.started_at from sync.runs x where x.connection = c.connection
        order by x.run_id desc limit ${lookBack}) r
      where r.started_at > now() - interval '1 day'
      group by c.connection, r.state`,
  )
  return rows.map((row): ConnectionRuns => {
    const summary = decodeSummary(row.summary)
    const own = states.filter(({ connection }) => connection === row.connection)
    return {
      connection: row.connection,
      last: row.run_id === null ? null : runOf({ ...row, run_id: row.run_id }),
      lastSuccessAt: row.last_success,
      lastDay: Object.fromEntries(own.map(({ runs, state }) => [state, runs])),
      requests: Either.isRight(summary) ? summary.right.requests : {},
    }
  })
})
