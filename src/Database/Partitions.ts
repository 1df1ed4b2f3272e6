/**
 * The tables that grow with the history are partitioned by hash of `book_id`: in one partition by default, in as many as the
 * first `tieout migrate --partitions N` says. Rules and indexes stand on the tables; a partition has its own refusal of
 * statements that name it (TO013, `drizzle/rules.sql`), since those would pass by the rules for whole statements.
 */
import { Effect } from "effect"
import { Database } from "../Database.ts"
import { int4 } from "./Columns.ts"
import { databaseError } from "./DatabaseError.ts"

export const partitionedTables = [
  "mirror.statement_entries",
  "mirror.resources",
  "ledger.journal_entries",
  "ledger.postings",
  "ledger.journal_numbers",
] as const

/** More would cost every statement more than the smaller tables save. */
export const mostPartitions = 256

/**
 * Gives each partitioned table that has none its partitions, named `TABLE_0`, `TABLE_1`, …; part of the script that applies the
 * rules, and before it.
 */
export const partitionsSql = (partitions: number): string => `
do $$
declare parent text;
begin
  foreach parent in array array['${partitionedTables.join("', '")}'] loop
    if exists (select from pg_partitioned_table where partrelid = to_regclass(parent))
      and not exists (select from pg_inherits where inhparent = to_regclass(parent)) then
      for remainder in 0 .. ${partitions - 1} loop
        execute format('create table %s_%s partition of %s for values with (modulus ${partitions}, remainder %s)',
          parent, remainder, parent, remainder);
      end loop;
    end if;
  end loop;
end $$;`

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
