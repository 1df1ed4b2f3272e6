/**
 * Runs whose process is gone. By their rows they are under way until the next one finds them, a night later perhaps; but
 * a run holds a lock for as long as it lives.
 */
import { Effect } from "effect"
import { lockOf } from "../Book/Moment.ts"
import type { Sql } from "../Database/Client.ts"
import { int4, text } from "../Database/Columns.ts"
import { plainArray, textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import { alone, backfillLock } from "../Run.ts"

/** Events hold their books' locks for moments: of their runs nothing shows whether they live. */
const commands = [...alone, "backfill"]

const columns = { runId: int4, connection: text, command: text }

const lockOfRun = ({ command, connection }: { readonly command: string; readonly connection: string }) =>
  command === "backfill" ? backfillLock(connection) : lockOf(connection)

/**
 * The identifiers of such runs. It must not share a snapshot with the statement that reads the runs, and comes before it: a run that ends
 * meanwhile has an end there.
 */
export const vanishedRuns = Effect.fn("Run.vanished")(function* () {
  const database = yield* Database
  const underWay = yield* database.rows(
    "Run.underWay",
    columns,
    (sql) => sql`
      select r.run_id as "runId", r.connection, r.command
      from sync.connections c
      cross join unnest(${textArray(sql, commands)}) as k (command)
      cross join lateral (
        select * from sync.runs x where x.connection = c.connection and x.command = k.command
        order by x.run_id desc limit 1) r
      where r.state = 'running'`,
  )
  if (underWay.length === 0) return []
  const held = yield* database.heldAmong(underWay.map(lockOfRun))
  return underWay.filter((run) => !held.has(lockOfRun(run))).map(({ runId }) => runId)
})

/** The state of a run `r`, as what is known of vanished ones has it. */
export const stateOf = (sql: Sql, vanished: ReadonlyArray<number>) => sql`
  case when r.state = 'running' and r.run_id = any (${plainArray(sql, vanished.map(String), "int4")})
    then 'abandoned' else r.state end`
