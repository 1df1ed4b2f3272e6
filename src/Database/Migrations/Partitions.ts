/** How many partitions the tables have that grow with the history: `PartitionNames.ts` says which. */
import { Effect } from "effect"
import { Database } from "../../Database.ts"
import { int4 } from "../Columns.ts"
import { databaseError } from "../DatabaseError.ts"

/** How many partitions each of the tables has; 0 before the first migration. */
export const readPartitions = Effect.fn("Database.partitions")(function* () {
  const database = yield* Database
  const { partitions } = yield* database.row(
    "Database.partitions",
    { partitions: int4 },
    (sql) => sql`
      select count(*)::integer as partitions from pg_inherits where inhparent = to_regclass('ledger.postings')`,
  )
  return partitions
})

/** Fails with reason `Settings` where the tables have another number of partitions than the one asked for. */
export const refuseOtherPartitions = Effect.fn("Database.refuseOtherPartitions")(function* (asked: number) {
  const partitions = yield* readPartitions()
  if (partitions === 0 || partitions === asked) return
  return yield* databaseError(
    "Settings",
    "Database.migrate",
    `the tables have ${partitions} partition${partitions === 1 ? "" : "s"} already, not ${asked}. Their number is set when a database is made: run tieout backup, then tieout restore --partitions ${asked} into an empty database`,
  )
})
