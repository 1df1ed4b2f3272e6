/**
 * The roles beside the database's owner: one that runs Tieout and can change no table, trigger or rule, and one that may only
 * read. Both may log in once an administrator gives them a password or a certificate.
 */

export interface RoleNames {
  readonly runtime: string
  readonly auditor: string
}

export const roleNames: RoleNames = { runtime: "tieout_runtime", auditor: "tieout_auditor" }

/** The schema that records the applied migrations: only the owner writes there. */
const record = "drizzle"

/** The schemas that the roles have rights in; the workers' queue, `jobs`, is there where it was asked for. */
export const roleSchemas: ReadonlyArray<string> = [
  record,
  ...["export", "ledger", "mirror", "reconcile", "sync", "valuation", "webhook"],
]

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

export const harmlessRole = "nosuperuser nocreatedb nocreaterole noreplication nobypassrls"

/**
 * `create role` knows no `if not exists`. One that an administrator made with greater rights loses them: against a superuser no rule
 * of the database holds.
 */
const createRole = (name: string): string => `do $$ declare mighty boolean; begin
  select rolsuper or rolcreatedb or rolcreaterole or rolreplication or rolbypassrls into mighty
    from pg_roles where rolname = '${name.replaceAll("'", "''")}';
  if mighty is null then
    create role ${quoted(name)} login ${harmlessRole};
  elsif mighty then
    alter role ${quoted(name)} ${harmlessRole};
  end if;
end $$;`

/**
 * Rights on what is there, and on what later migrations of the same owner make in these schemas. No TRUNCATE, and no trigger's
 * or table's ownership: what is refused to everybody stays refused to them.
 */
const grants = ({ auditor, runtime }: RoleNames, schemas: ReadonlyArray<string>): string => {
  const both = `${quoted(runtime)}, ${quoted(auditor)}`
  const all = schemas.join(", ")
  const books = schemas.filter((name) => name !== record).join(", ")
  return [
    ...(all === ""
      ? []
      : [
          `grant usage on schema ${all} to ${both};`,
          `grant select on all tables in schema ${all} to ${both};`,
          `alter default privileges in schema ${all} grant select on tables to ${both};`,
        ]),
    ...(books === ""
      ? []
      : [
          `grant insert, update, delete on all tables in schema ${books} to ${quoted(runtime)};`,
          `grant usage, select on all sequences in schema ${books} to ${quoted(runtime)};`,
          "-- Not to take numbers: a backup without them would have these given twice.",
          `grant select on all sequences in schema ${books} to ${quoted(auditor)};`,
          `alter default privileges in schema ${books} grant insert, update, delete on tables to ${quoted(runtime)};`,
          `alter default privileges in schema ${books} grant usage, select on sequences to ${quoted(runtime)};`,
          `alter default privileges in schema ${books} grant select on sequences to ${quoted(auditor)};`,
        ]),
    ...(schemas.includes(record)
      ? [
          "-- Earlier versions gave these rights away on what later migrations made.",
          `alter default privileges in schema ${record} revoke insert, update, delete on tables from ${quoted(runtime)};`,
          `revoke insert, update, delete on all tables in schema ${record} from ${quoted(runtime)};`,
        ]
      : []),
    `do $$ begin
  execute format('grant connect, temporary on database %I to ${both}', current_database());
  -- The workers' queue, where there is one; its tables are pg-boss's.
  if to_regnamespace('jobs') is not null then
    grant usage on schema jobs to ${both};
    grant select on all tables in schema jobs to ${both};
    grant insert, update, delete on all tables in schema jobs to ${quoted(runtime)};
  end if;${
    books === ""
      ? ""
      : `
  -- Statistics by hand; those of a large read are made by ledger.make_statistics, on every version.
  if current_setting('server_version_num')::int >= 170000 then
    grant maintain on all tables in schema ${books} to ${quoted(runtime)};
  end if;`
  }
end $$;`,
  ].join("\n")
}

/** A peer that is gone is noticed within a minute, and nothing waits or holds locks for ever. */
const patience = (name: string): string => `alter role ${quoted(name)} set tcp_keepalives_idle = 20;
alter role ${quoted(name)} set tcp_keepalives_interval = 10;
alter role ${quoted(name)} set tcp_keepalives_count = 2;
alter role ${quoted(name)} set lock_timeout = '60s';
alter role ${quoted(name)} set idle_in_transaction_session_timeout = '15min';
alter role ${quoted(name)} set log_parameter_max_length_on_error = 0;`

/** In `public` there may be a `format` of somebody else's, which an administrator's session would take for the server's. */
const withOwnPath = (statements: ReadonlyArray<string>): string =>
  ["set search_path = pg_catalog;", ...statements, "reset search_path;"].join("\n")

/** What the owner, or whoever may create roles, runs in the database. Safe to repeat. `schemas`: those that are there. */
export const rolesSql = (
  names: RoleNames = roleNames,
  schemas: ReadonlyArray<string> = roleSchemas,
): string =>
  withOwnPath([
    createRole(names.runtime),
    createRole(names.auditor),
    grants(names, schemas),
    patience(names.runtime),
    patience(names.auditor),
    `alter role ${quoted(names.auditor)} set default_transaction_read_only = on;`,
  ])

/**
 * Functions of Postgres that everybody may call and that could do harm: taking locks under our keys, and filling the disk
 * outside of any table.
 */
const locking = "^pg_(try_)?advisory_(xact_)?lock(_shared)?$"
const filling = "^(lo_creat|lo_create|lo_from_bytea|pg_logical_emit_message)$"

/**
 * Revokes these functions from everybody, in this database, and grants the locks to the roles that work in it. They belong to
 * Postgres itself, so the owner of the tables may not do this.
 */
const harmless = (runtime: string): string => `do $$ declare called regprocedure; begin
  for called in select oid from pg_proc
    where pronamespace = 'pg_catalog'::regnamespace and proname ~ '${locking}|${filling}'
  loop
    execute format('revoke execute on function %s from public', called);
  end loop;
  for called in select oid from pg_proc
    where pronamespace = 'pg_catalog'::regnamespace and proname ~ '${locking}'
  loop
    execute format('grant execute on function %s to %I', called, '${runtime.replaceAll("'", "''")}');
    -- Not yet there before the tables are made.
    if to_regnamespace('ledger') is not null then
      execute format('grant execute on function %s to %s', called,
        (select nspowner::regrole from pg_namespace where nspname = 'ledger'));
    end if;
  end loop;
end $$;`

/**
 * The owner of the tables writes rows, too, when a backup is restored. A superuser, who may own other things, only where the tables are;
 * nothing while they are not yet there.
 */
const quietOwner = `do $$ declare held record; begin
  for held in select rolname, rolsuper from pg_roles
    where oid = (select nspowner from pg_namespace where nspname = 'ledger')
  loop
    for setting in 1..3 loop
      execute format('alter role %I %s set %s', held.rolname,
        case when held.rolsuper then format('in database %I', current_database()) end,
        (array['log_parameter_max_length = 0', 'log_min_error_statement = panic', 'auto_explain.log_min_duration = -1'])[setting]);
    end loop;
  end loop;
end $$;`

/**
 * What only a superuser may do: keep the values of rows, which are personal data, out of the server's log; let each role see
 * when another one's transactions began, for `--as-of`; and keep roles that may only read from holding locks that the work
 * waits for.
 */
export const administratorSql = (names: RoleNames = roleNames): string =>
  withOwnPath([
    ...[names.runtime, names.auditor].flatMap((name) => [
      `alter role ${quoted(name)} set log_parameter_max_length = 0;`,
      `alter role ${quoted(name)} set log_min_error_statement = 'panic';`,
      // Plans have parameters in them.
      `alter role ${quoted(name)} set auto_explain.log_min_duration = -1;`,
      `grant pg_read_all_stats to ${quoted(name)};`,
    ]),
    quietOwner,
    harmless(names.runtime),
  ])
