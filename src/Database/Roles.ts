/**
 * The roles beside the database's owner: one that runs Tieout and can change no table, trigger or rule, and one that may only
 * read. Both may log in once an administrator gives them a password or a certificate.
 */
import { Effect } from "effect"
import { Database } from "../Database.ts"
import { closeConnection, openConnection } from "./Connections.ts"
import { DatabaseError, toDatabaseError } from "./DatabaseError.ts"

export interface RoleNames {
  readonly runtime: string
  readonly auditor: string
}

export const roleNames: RoleNames = { runtime: "tieout_runtime", auditor: "tieout_auditor" }

const schemas = ["drizzle", "export", "ledger", "mirror", "reconcile", "sync", "valuation", "webhook"].join(
  ", ",
)

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** `create role` knows no `if not exists`. */
const made = (name: string): string => `do $$ begin
  if not exists (select from pg_roles where rolname = '${name.replaceAll("'", "''")}') then
    create role ${quoted(name)} login nosuperuser nocreatedb nocreaterole noreplication nobypassrls;
  end if;
end $$;`

/**
 * Rights on what is there, and on what later migrations of the same owner make in these schemas. No TRUNCATE, and no trigger's
 * or table's ownership: what is refused to everybody stays refused to them.
 */
const grants = ({
  auditor,
  runtime,
}: RoleNames): string => `grant usage on schema ${schemas} to ${quoted(runtime)}, ${quoted(auditor)};
grant select on all tables in schema ${schemas} to ${quoted(runtime)}, ${quoted(auditor)};
grant insert, update, delete on all tables in schema ${schemas} to ${quoted(runtime)};
revoke insert, update, delete on all tables in schema drizzle from ${quoted(runtime)};
grant usage, select on all sequences in schema ${schemas} to ${quoted(runtime)};
alter default privileges in schema ${schemas} grant select on tables to ${quoted(runtime)}, ${quoted(auditor)};
alter default privileges in schema ${schemas} grant insert, update, delete on tables to ${quoted(runtime)};
alter default privileges in schema ${schemas} grant usage, select on sequences to ${quoted(runtime)};
do $$ begin
  execute format('grant connect, temporary on database %I to ${quoted(runtime)}, ${quoted(auditor)}', current_database());
  -- The workers' queue, where there is one; its tables are pg-boss's.
  if to_regnamespace('jobs') is not null then
    grant usage on schema jobs to ${quoted(runtime)}, ${quoted(auditor)};
    grant select on all tables in schema jobs to ${quoted(runtime)}, ${quoted(auditor)};
    grant insert, update, delete on all tables in schema jobs to ${quoted(runtime)};
  end if;
  -- Statistics after a large read; before Postgres 17 autovacuum alone makes them.
  if current_setting('server_version_num')::int >= 170000 then
    grant maintain on all tables in schema ${schemas} to ${quoted(runtime)};
  end if;
end $$;`

/** A peer that is gone is noticed within a minute, and nothing waits or holds locks without end. */
const patience = (name: string): string => `alter role ${quoted(name)} set tcp_keepalives_idle = 20;
alter role ${quoted(name)} set tcp_keepalives_interval = 10;
alter role ${quoted(name)} set tcp_keepalives_count = 2;
alter role ${quoted(name)} set lock_timeout = '60s';
alter role ${quoted(name)} set idle_in_transaction_session_timeout = '15min';
alter role ${quoted(name)} set log_parameter_max_length_on_error = 0;`

/** What the owner, or whoever may create roles, runs in the database. Safe to repeat. */
export const rolesSql = (names: RoleNames = roleNames): string =>
  [
    made(names.runtime),
    made(names.auditor),
    grants(names),
    patience(names.runtime),
    patience(names.auditor),
    `alter role ${quoted(names.auditor)} set default_transaction_read_only = on;`,
  ].join("\n")

/** What only a superuser may set: values of rows, which are personal data, stay out of the server's log. */
export const administratorSql = (names: RoleNames = roleNames): string =>
  [names.runtime, names.auditor]
    .flatMap((name) => [
      `alter role ${quoted(name)} set log_parameter_max_length = 0;`,
      `alter role ${quoted(name)} set log_min_error_statement = 'panic';`,
    ])
    .join("\n")

/** SQLSTATE of a missing privilege. */
const notAllowed = "42501"

/** Makes the roles, or brings them up to date; in one transaction. */
export const applyRoles = Effect.fn("Database.applyRoles")(function* (names: RoleNames = roleNames) {
  const { settings } = yield* Database
  yield* Effect.acquireUseRelease(
    Effect.sync(() => openConnection(settings)),
    ({ client }) =>
      Effect.tryPromise({
        try: () => client.unsafe(`begin;\n${rolesSql(names)}\ncommit;`).simple(),
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
