import { Effect, Schedule } from "effect"
import { productVersion } from "../Common/Package.ts"
import { Database } from "../Database.ts"
import { asOwner } from "./AsOwner.ts"
import { bool } from "./Columns.ts"
import { type Connection, closeConnection, openConnection } from "./ConnectionPool.ts"
import { type DatabaseError, databaseError } from "./DatabaseError.ts"
import type { EmbeddedError } from "./Embedded/EmbeddedError.ts"
import { embeddedRolesSql } from "./Embedded/RuntimeRole.ts"
import { refuseReadOnly } from "./MayWrite.ts"
import { refuseEncoding } from "./Migrations/Encoding.ts"
import { type Package, packageMigrations, readPackage } from "./Migrations/MigrationFiles.ts"
import { dropReplaceable, noteObjects } from "./Migrations/Objects.ts"
import { partitionsSql } from "./Migrations/PartitionNames.ts"
import { refuseOtherPartitions } from "./Migrations/Partitions.ts"
import { pendingMigrations, pendingOf, readApplied } from "./Migrations/Pending.ts"
import { runStatement } from "./RunStatement.ts"

const operation = "Database.migrate"

/** Postgres's errors for a view or function that cannot be replaced because its columns or parameters differ. */
const reshaped: ReadonlySet<string | undefined> = new Set(["42P13", "42P16"])

/**
 * Records them as drizzle's own migrator would. That one runs in the driver's transactions, which send a rollback where the connection
 * was lost, and end the process by that.
 */
const migrationsSql = (missing: Package["migrations"]): ReadonlyArray<string> => [
  "create schema if not exists drizzle;",
  "create table if not exists drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint);",
  ...missing.map(
    ({ hash, text, when }) =>
      `${text}\n;insert into drizzle.__drizzle_migrations (hash, created_at) values ('${hash}', ${when});`,
  ),
]

const rulesSql = ({ hash, text }: NonNullable<Package["rules"]>): ReadonlyArray<string> => [
  text,
  "create table if not exists drizzle.rules (hash text not null);",
  "alter table drizzle.rules add column if not exists version text;",
  "delete from drizzle.rules;",
  `insert into drizzle.rules (hash, version) values ('${hash}', '${productVersion()}');`,
  noteObjects,
]

/**
 * All in one transaction: a process that serves this database would else write to new tables before their rules are there. What of
 * the rules cannot be replaced is dropped first: only then, since rights that an administrator has granted on a view are dropped
 * with it.
 */
const applyAll = (
  connection: Connection,
  { migrations, rules }: Package,
  { after, partitions }: { readonly after: string; readonly partitions: number },
) => {
  const run = (text: string) =>
    runStatement(connection, operation, () => connection.client.unsafe(text).simple())
  const applying = (before: ReadonlyArray<string>) =>
    run(
      [
        `begin${connection.locals};`,
        ...(migrations.length === 0 ? [] : migrationsSql(migrations)),
        partitionsSql(partitions),
        ...(rules === null ? [] : [...before, ...rulesSql(rules), after]),
        "commit;",
      ].join("\n"),
    )
  return applying([]).pipe(
    Effect.catchIf(
      ({ sqlstate }) => reshaped.has(sqlstate),
      () => Effect.zipRight(run("rollback"), applying([dropReplaceable])),
    ),
  )
}

/** The role that runs Tieout owns nothing. In an empty database, a role that may create schemas becomes the owner. */
export const mayMigrate = Effect.fn("Migrate.mayMigrate")(function* () {
  const database = yield* Database
  const { owned } = yield* database.row(
    operation,
    { owned: bool },
    (sql) => sql`
      select coalesce((select pg_has_role(current_user, n.nspowner, 'usage') from pg_namespace n where n.nspname = 'ledger'),
        has_database_privilege(current_database(), 'CREATE')) as owned`,
  )
  return owned
})

export interface MigrateOptions {
  /** Of the migrations; the package's by default. */
  readonly folder?: string
  /** How many partitions the tables of a new database get. */
  readonly partitions?: number | undefined
}

/** `first`: as of `readPackage`. */
type Brought = MigrateOptions & { readonly folder: string; readonly first?: number }

const applyPending = Effect.fn("Migrate.apply")(function* (
  { first, folder, partitions = 1 }: Brought,
  lacking: ReadonlyArray<string>,
) {
  const database = yield* Database
  const { isEmbedded, settings } = database
  yield* refuseReadOnly(operation)
  if (!(yield* mayMigrate())) {
    return yield* databaseError(
      "Settings",
      operation,
      `the database lacks ${lacking.join(", ")}, and ${settings.username} may not change its tables: run tieout migrate as their owner`,
    )
  }
  const brought = yield* readPackage(folder, first)
  return yield* Effect.acquireUseRelease(
    Effect.sync(() => openConnection(settings)),
    (connection) =>
      Effect.gen(function* () {
        // Where two processes migrate at once, the second one finds the work done.
        yield* database.tryLock("migrations").pipe(
          Effect.retry({ schedule: Schedule.spaced("100 millis"), while: ({ _tag }) => _tag === "LockBusy" }),
          Effect.catchTag("LockBusy", ({ message }) => databaseError("Conflict", operation, message)),
        )
        const applied = yield* readApplied()
        const pending = yield* pendingOf(brought, applied)
        if (pending.length === 0) return pending
        if (applied.hashes.length === 0) yield* refuseEncoding(operation)
        yield* applyAll(
          connection,
          { ...brought, migrations: brought.migrations.filter(({ tag }) => pending.includes(tag)) },
          { partitions, after: isEmbedded ? embeddedRolesSql() : "" },
        )
        return pending
      }).pipe(Effect.scoped),
    closeConnection,
  )
})

const bring = Effect.fn("Migrate.bring")(function* (
  brought: Brought,
): Effect.fn.Return<ReadonlyArray<string>, DatabaseError | EmbeddedError, Database> {
  const lacking = yield* pendingMigrations(brought.folder, brought.first)
  if (brought.partitions !== undefined) yield* refuseOtherPartitions(brought.partitions)
  return lacking.length === 0 ? [] : yield* asOwner(applyPending(brought, lacking))
})

/**
 * Migrates the database to this version, as the owner of its tables: all pending migrations and the rules in one transaction, in
 * which an embedded database's roles get their rights, too. Returns their names. Any number of processes may call it at once: one
 * works, the others wait and find nothing to do. `partitions`: how many the tables of a new database get, 1 by default; fails with
 * reason `Settings` where they have another number.
 */
export const migrate = Effect.fn("Migrate.migrate")(function* (
  folder: string = packageMigrations(),
  partitions?: number,
): Effect.fn.Return<ReadonlyArray<string>, DatabaseError | EmbeddedError, Database> {
  return yield* bring({ folder, partitions })
})

/**
 * Brings a new database to the tables that these migrations made, the first ones of this version: without rules where they are
 * not all. False where this version never had such tables.
 */
export const migrateTo = Effect.fn("Migrate.migrateTo")(function* (
  hashes: ReadonlyArray<string>,
  { folder = packageMigrations(), partitions }: MigrateOptions,
) {
  const { migrations } = yield* readPackage(folder)
  if (hashes.length > migrations.length || hashes.some((hash, at) => hash !== migrations[at]?.hash))
    return false
  yield* bring({ folder, partitions, first: hashes.length })
  return true
})
