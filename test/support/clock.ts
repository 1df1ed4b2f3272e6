import { Effect } from "effect"
import { Database } from "../../src/Database.ts"

/** The database's time now, ISO 8601 in UTC: everything recorded before counts as recorded by then. */
export const clock = Effect.gen(function* () {
  const database = yield* Database
  const [row] = yield* database.query(
    "Test.clock",
    (sql) => sql<Array<{ now: string }>>`
      select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`,
  )
  return row?.now ?? ""
})
