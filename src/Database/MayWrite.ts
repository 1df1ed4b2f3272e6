import { Effect } from "effect"
import { Database } from "../Database.ts"
import { bool } from "./Columns.ts"

/** Whether this session may write: it may not on a standby, nor with a role that may only read. */
export const mayWrite = Effect.fn("Database.mayWrite")(function* () {
  const database = yield* Database
  const { may } = yield* database.row(
    "Database.mayWrite",
    { may: bool },
    (sql) => sql`
      select current_setting('transaction_read_only') = 'off' and has_table_privilege('export.batches', 'insert') as may`,
  )
  return may
})
