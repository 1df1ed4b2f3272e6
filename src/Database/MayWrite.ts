import { Effect } from "effect"
import { Database } from "../Database.ts"
import { bool } from "./Columns.ts"
import { databaseError, readOnlyError } from "./DatabaseError.ts"

/** Whether this session may write. On a standby, or with a role that may only read, it may not. */
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

/** Fails where every transaction would: on a standby, or by a setting of the database, the role or `DATABASE_URL`. */
export const refuseReadOnly = Effect.fn("Database.refuseReadOnly")(function* (operation: string) {
  const database = yield* Database
  const { isReadOnly } = yield* database.row(
    operation,
    { isReadOnly: bool },
    (sql) => sql`select current_setting('transaction_read_only') = 'on' as "isReadOnly"`,
  )
  if (isReadOnly) return yield* readOnlyError(operation)
})

/** Fails where triggers do not fire, as somebody may have set for a copy of the tables: nothing would keep a wrong row from the books. */
export const refuseUnguarded = Effect.fn("Database.refuseUnguarded")(function* (operation: string) {
  const database = yield* Database
  const { guarded } = yield* database.row(
    operation,
    { guarded: bool },
    (sql) => sql`select current_setting('session_replication_role') <> 'replica' as guarded`,
  )
  if (guarded) return
  return yield* databaseError(
    "Settings",
    operation,
    "the rules that guard the books are off: the database, the role or the server has session_replication_role=replica. Take it back there; tieout verify --database says by which statement",
  )
})

/** On a standby fails as in an outage: for a process that is to stay up, and that is started again. */
export const awaitPrimary = Effect.fn("Database.awaitPrimary")(function* (operation: string) {
  const database = yield* Database
  const { standby } = yield* database.row(
    operation,
    { standby: bool },
    (sql) => sql`select pg_is_in_recovery() as standby`,
  )
  if (!standby) return
  return yield* databaseError(
    "Unreachable",
    operation,
    "the database is a standby, and may only be read until it takes over",
  )
})
