/** The last run of every command on every connection. */
import { Effect, Either, Option, Schema } from "effect"
import { json, nullable, text } from "../Database/Columns.ts"
import { runCommands } from "../Database/Tables/Sync.ts"
import { textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import { stateOf } from "../Run/Vanished.ts"

export interface LastRun {
  readonly connection: string
  readonly command: string
  /** ISO 8601, our clock. */
  readonly startedAt: string
  /** Null while it runs, and where its process is gone. */
  readonly endedAt: string | null
  /** `running`, `done`, `failed`, `stopped`, `abandoned`. */
  readonly state: string
}

/** The part of a run's summary that is shown here: new entries by account, and how many more accounts had some. */
const Summary = Schema.Struct({
  newEntries: Schema.Record({ key: Schema.String, value: Schema.NonNegativeInt }),
  moreAccounts: Schema.optionalWith(Schema.NonNegativeInt, { default: () => 0 }),
})
const decodeSummary = Schema.decodeUnknownEither(Summary)

const columns = {
  connection: text,
  command: text,
  started_at: text,
  ended_at: nullable(text),
  state: text,
  summary: json,
}

/** Two connections to one organization read the same accounts. */
export const accountKey = (connection: string, accountId: string): string => `${connection} ${accountId}`

/** What last runs brought. */
export interface Brought {
  /** New entries by `accountKey`. */
  readonly newEntries: ReadonlyMap<string, number>
  /** Connections whose run names only the accounts with most; what it brought of another account is not known. */
  readonly partly: ReadonlySet<string>
}

/** New statement entries of an account; null where that is not known. */
export const broughtOf = (
  { newEntries, partly }: Brought,
  connection: string,
  accountId: string,
): number | null => newEntries.get(accountKey(connection, accountId)) ?? (partly.has(connection) ? null : 0)

/**
 * Last runs by connection and command, as `vanishedRuns` knows them, and what each connection's last sync brought.
 */
export const lastRuns = Effect.fn("Status.lastRuns")(function* (
  connection: Option.Option<string>,
  vanished: ReadonlyArray<number>,
) {
  const database = yield* Database
  const wanted = Option.getOrNull(connection)
  const rows = yield* database.rows(
    "Status.lastRuns",
    columns,
    (sql) => sql`
      select c.connection, r.command, ${stateOf(sql, vanished)} as state, r.summary,
        to_char(r.started_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as started_at,
        to_char(r.ended_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as ended_at
      from sync.connections c
      cross join unnest(${textArray(sql, runCommands)}) as k (command)
      cross join lateral (
        select * from sync.runs x where x.connection = c.connection and x.command = k.command
        order by x.run_id desc limit 1) r
      where ${wanted}::text is null or c.connection = ${wanted}
      order by c.connection, r.command`,
  )
  const newEntries = new Map<string, number>()
  const partly = new Set<string>()
  for (const row of rows) {
    const summary = row.command === "sync" ? decodeSummary(row.summary) : Either.left(undefined)
    if (Either.isLeft(summary)) continue
    if (summary.right.moreAccounts > 0) partly.add(row.connection)
    for (const [accountId, count] of Object.entries(summary.right.newEntries))
      newEntries.set(accountKey(row.connection, accountId), count)
  }
  const runs = rows.map(
    (row): LastRun => ({
      connection: row.connection,
      command: row.command,
      startedAt: row.started_at,
      endedAt: row.ended_at,
      state: row.state,
    }),
  )
  const brought: Brought = { newEntries, partly }
  return { runs, brought }
})
