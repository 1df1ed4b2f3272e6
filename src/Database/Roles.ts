import { Effect } from "effect"
import { Database } from "../Database.ts"
import { closeConnection, openConnection } from "./Connections.ts"
import { DatabaseError, toDatabaseError } from "./DatabaseError.ts"
import { type RoleNames, roleNames, rolesSql } from "./RoleStatements.ts"

/** SQLSTATE of a missing privilege. */
const notAllowed = "42501"

/** Of two at once one waits: Postgres refuses rights on one thing to be given twice at the same time. */
const alone = "select pg_advisory_xact_lock(hashtextextended('tieout roles', 0));"

/** Makes the roles, or brings them up to date; in one transaction. */
export const applyRoles = Effect.fn("Database.applyRoles")(function* (names: RoleNames = roleNames) {
  const { settings } = yield* Database
  yield* Effect.acquireUseRelease(
    Effect.sync(() => openConnection(settings)),
    ({ client }) =>
      Effect.tryPromise({
        try: () => client.unsafe(`begin;\n${alone}\n${rolesSql(names)}\ncommit;`).simple(),
        catch: (error) => toDatabaseError("Database.applyRoles", error),
      }),
    closeConnection,
  ).pipe(
    Effect.mapError((error) =>
      error.sqlstate === notAllowed
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
