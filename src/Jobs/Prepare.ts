/** The queue's tables, before anybody uses it. */
import { Effect, Schedule } from "effect"
import { asOwner } from "../Database/AsOwner.ts"
import { bool } from "../Database/Columns.ts"
import { databaseError } from "../Database/DatabaseError.ts"
import { mayMigrate } from "../Database/Migrate.ts"
import { applyRoles } from "../Database/Roles.ts"
import { Database } from "../Database.ts"
import { migrateJobs, schema } from "./Boss.ts"

/** Makes the queue's tables as their owner; the role that runs Tieout in an embedded database is given its rights on them. */
export const makeQueue = Effect.fn("Jobs.makeQueue")(function* () {
  const { isEmbedded, settings } = yield* Database
  // Processes that do this at once may at most fail on each other's locks, and it is safe to repeat.
  yield* Effect.retry(migrateJobs(settings), {
    while: ({ _tag }) => _tag === "DatabaseError",
    schedule: Schedule.intersect(Schedule.spaced("500 millis"), Schedule.recurs(3)),
  })
  if (isEmbedded) yield* applyRoles()
}, asOwner)

/** Makes the queue's tables where this user may; else they must be there. */
export const prepare = Effect.fn("Jobs.prepare")(function* () {
  const database = yield* Database
  if (database.isEmbedded || (yield* mayMigrate())) return yield* makeQueue()
  const { there } = yield* database.row(
    "Jobs.prepare",
    { there: bool },
    (sql) => sql`select to_regclass(${`${schema}.version`}) is not null as there`,
  )
  if (there) return
  return yield* databaseError(
    "Settings",
    "Jobs.prepare",
    `the database lacks the workers' queue, and ${database.settings.username} may not make it: run tieout migrate as the owner of the tables, with Node 22.12 or newer`,
  )
})
