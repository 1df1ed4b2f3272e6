/** The queue's tables, before anybody uses it. */
import { Effect } from "effect"
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
  yield* migrateJobs(settings)
  if (isEmbedded) yield* applyRoles()
}, asOwner)

/** Makes the queue's tables where this user may; else they must be there. */
export const prepare = Effect.fn("Jobs.prepare")(function* () {
  const database = yield* Database
  if (database.isEmbedded || (yield* mayMigrate())) return yield* makeQueue()
  const { made } = yield* database.row(
    "Jobs.prepare",
    { made: bool },
    (sql) => sql`select to_regclass(${`${schema}.version`}) is not null as made`,
  )
  if (made) return
  return yield* databaseError(
    "Settings",
    "Jobs.prepare",
    `the database lacks the workers' queue, and ${database.settings.username} may not make it: run tieout migrate as the owner of the tables, with Node 22.12 or newer`,
  )
})
