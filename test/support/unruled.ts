import { Effect } from "effect"
import { Database } from "../../src/Database.ts"

/** Runs a statement past all rules of the database, for rows that a test needs and nobody may write. */
export const unruled = Effect.fn("Test.unruled")(function* (statement: string) {
  const database = yield* Database
  yield* database.query("Test.unruled", (sql) =>
    sql.unsafe(`set local session_replication_role = replica;\n${statement}`),
  )
})
