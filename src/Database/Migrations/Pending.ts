/** Which migrations and rules a database lacks, and whether this version may apply them. */
import { Effect } from "effect"
import { productVersion } from "../../Common/Package.ts"
import { Database } from "../../Database.ts"
import { bool, nullable, text } from "../Columns.ts"
import { type DatabaseError, databaseError } from "../DatabaseError.ts"
import { type Package, packageMigrations, readPackage, rulesName } from "./MigrationFiles.ts"

const operation = "Database.migrate"

interface Applied {
  readonly hashes: ReadonlyArray<string>
  readonly rules: {
    readonly hash: string
    /** The version of Tieout that applied them, `0.1.0`; null: one that did not write it down. */
    readonly version: string | null
  } | null
}

/** The migrations that the database has applied, oldest first. */
export const readApplied = Effect.fn("Migrate.readApplied")(function* () {
  const database = yield* Database
  const found = yield* database.row(
    operation,
    { migrations: bool, rules: bool },
    (sql) => sql`
      select to_regclass('drizzle.__drizzle_migrations') is not null as migrations,
        to_regclass('drizzle.rules') is not null as rules`,
  )
  const hashes = found.migrations
    ? yield* database.rows(
        operation,
        { hash: text },
        (sql) => sql`select hash from drizzle.__drizzle_migrations order by created_at`,
      )
    : []
  const rules = found.rules
    ? yield* database.rows(
        operation,
        { hash: text, version: nullable(text) },
        (sql) => sql`select r.hash, to_jsonb(r) ->> 'version' as version from drizzle.rules r`,
      )
    : []
  return { hashes: hashes.map(({ hash }) => hash), rules: rules[0] ?? null } satisfies Applied
})

/** `0.10.0` of `0.10.0-rc.1`: what comes before a release gives way to it. */
const releaseOf = (version: string): string => version.replace(/[-+].*$/, "")

/** Whether a version like `0.10.0` is later than this one. */
const isNewer = (version: string): boolean =>
  releaseOf(version).localeCompare(releaseOf(productVersion()), "en", { numeric: true }) > 0

const refused = (message: string) => Effect.fail(databaseError("Settings", operation, message))

export const pendingOf = (
  { migrations, rules }: Package,
  applied: Applied,
): Effect.Effect<ReadonlyArray<string>, DatabaseError> => {
  const known = applied.hashes.slice(0, migrations.length)
  if (known.some((hash, at) => hash !== migrations[at]?.hash)) {
    return refused(
      "the database was made by another development version of Tieout, whose tables this one cannot bring up to date; begin a new database (another DATABASE_URL or TIEOUT_DATA_DIR) and run tieout sync",
    )
  }
  const hasOtherRules = rules !== null && rules.hash !== applied.rules?.hash
  const version = applied.rules?.version ?? null
  if (applied.hashes.length > migrations.length || (hasOtherRules && version !== null && isNewer(version))) {
    return refused("the database was migrated by a newer version of Tieout; use that version")
  }
  const missing = migrations.slice(applied.hashes.length).map(({ tag }) => tag)
  return Effect.succeed(
    rules !== null && (missing.length > 0 || hasOtherRules) ? [...missing, rulesName] : missing,
  )
}

/**
 * The names of the migrations that the database lacks, in order, and last `rules` where its functions, triggers and views are
 * not this version's. Fails with reason `Settings` where a newer version migrated the database, or a development version made
 * it with other tables. `first`: as of `readPackage`.
 */
export const pendingMigrations = Effect.fn("Migrate.pending")(function* (
  folder: string = packageMigrations(),
  first?: number,
): Effect.fn.Return<ReadonlyArray<string>, DatabaseError, Database> {
  return yield* pendingOf(yield* readPackage(folder, first), yield* readApplied())
})
