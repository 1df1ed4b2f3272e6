import { Effect } from "effect"
import { Database } from "../Database.ts"
import { bool } from "./Columns.ts"
import { closeConnection, openConnection } from "./ConnectionPool.ts"
import { DatabaseError, lacksRight } from "./DatabaseError.ts"
import { administratorSql, type RoleNames, roleNames, rolesSql } from "./RoleStatements.ts"
import { runStatement } from "./RunStatement.ts"

/** Two processes take turns: Postgres refuses two grants on one object at the same time. */
const rolesLock = "select pg_advisory_xact_lock(hashtextextended('tieout roles', 0));"

/** In one transaction, as whoever is connected. */
const run = Effect.fn("Database.runForRoles")(function* (sql: string) {
  const { settings } = yield* Database
  yield* Effect.acquireUseRelease(
    Effect.sync(() => openConnection(settings)),
    (connection) =>
      runStatement(connection, "Database.applyRoles", () =>
        connection.client.unsafe(`begin;\n${rolesLock}\n${sql}\ncommit;`).simple(),
      ),
    closeConnection,
  )
})

/** Makes the roles, or brings them up to date; in one transaction. */
export const applyRoles = Effect.fn("Database.applyRoles")(function* (names: RoleNames = roleNames) {
  yield* run(rolesSql(names)).pipe(
    Effect.mapError((error) =>
      error.sqlstate === lacksRight
        ? new DatabaseError({
            ...error,
            reason: "Settings",
            message:
              "This user may not make roles, or does not own the tables; nothing was changed. Have an administrator run this as the " +
              `owner of the tables, who needs the right to create roles for it:\n${rolesSql(names)}`,
          })
        : error,
    ),
  )
})

/** Where the session is a superuser's, does what only a superuser may. Returns whether it is. */
export const administerRoles = Effect.fn("Database.administerRoles")(function* (
  names: RoleNames = roleNames,
) {
  const database = yield* Database
  const { may } = yield* database.row(
    "Database.administerRoles",
    { may: bool },
    (sql) => sql`select rolsuper as may from pg_roles where rolname = current_user`,
  )
  if (may) yield* run(administratorSql(names))
  return may
})
