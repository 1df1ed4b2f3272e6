import { Effect } from "effect"
import { Database } from "../Database.ts"
import { bool, text } from "./Columns.ts"
import { closeConnection, openConnection } from "./ConnectionPool.ts"
import { DatabaseError, lacksRight } from "./DatabaseError.ts"
import { administratorSql, harmlessRole, type RoleNames, roleNames, rolesSql } from "./RoleStatements.ts"
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

/** What stands between the owner of the tables and these roles, as statements that only an administrator may run. */
const inTheWay = Effect.fn("Database.inTheWay")(function* ({ auditor, runtime }: RoleNames) {
  const database = yield* Database
  const found = yield* database.rows(
    "Database.inTheWay",
    { statement: text },
    (sql) => sql`
      with owner as (
        select r.oid, r.rolname, r.rolcreaterole or r.rolsuper as creates
        from pg_namespace n join pg_roles r on r.oid = n.nspowner where n.nspname = 'ledger'),
      given as (
        select r.oid, r.rolname, r.rolsuper or r.rolcreatedb or r.rolcreaterole or r.rolreplication or r.rolbypassrls as mighty
        from pg_roles r where r.rolname in (${runtime}, ${auditor}))
      select format('alter role %I createrole;', o.rolname) as statement from owner o where not o.creates
      union all
      select format('alter role %I ${sql.unsafe(harmlessRole)};', g.rolname) from given g where g.mighty
      union all
      -- Since Postgres 16 the right to create roles is none to those that others made.
      select format('grant %I to %I with admin true, inherit false, set false;', g.rolname, o.rolname)
      from given g cross join owner o
      where current_setting('server_version_num')::integer >= 160000
        and not pg_has_role(o.oid, g.oid, 'MEMBER WITH ADMIN OPTION')`,
  )
  return found.map(({ statement }) => statement)
})

const refusedRoles = Effect.fn("Database.refusedRoles")(function* (names: RoleNames, refused: DatabaseError) {
  const first = yield* inTheWay(names)
  const before = first.length === 0 ? "" : `:\n${first.join("\n")}\nand then this`
  return yield* new DatabaseError({
    ...refused,
    reason: "Settings",
    message:
      "This user may not make roles, or change those that are there, or does not own the tables; nothing was changed. Have an " +
      `administrator run this${before} as the owner of the tables, who needs the right to create roles for it:\n${rolesSql(names)}`,
  })
})

/** Makes the roles, or brings them up to date; in one transaction. */
export const applyRoles = Effect.fn("Database.applyRoles")(function* (names: RoleNames = roleNames) {
  yield* run(rolesSql(names)).pipe(
    Effect.catchIf(
      ({ sqlstate }) => sqlstate === lacksRight,
      (refused) => refusedRoles(names, refused),
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
