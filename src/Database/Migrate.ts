import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { migrate as applyMigrations } from "drizzle-orm/postgres-js/migrator"
import { Effect, Schema } from "effect"
import { Database } from "../Database.ts"
import { makeOrm } from "./Client.ts"
import { closeConnection, openConnection } from "./Connections.ts"
import { type DatabaseError, databaseError, toDatabaseError } from "./DatabaseError.ts"

/** The package's migrations; the same folder whether we run from `src` or from `dist`. */
const packageMigrations = fileURLToPath(new URL("../../drizzle", import.meta.url))

const Journal = Schema.parseJson(
  Schema.Struct({ entries: Schema.Array(Schema.Struct({ tag: Schema.String, when: Schema.Number })) }),
)

type Migration = (typeof Journal.Type)["entries"][number]

const operation = "Database.migrate"

const failed = (error: unknown): DatabaseError => toDatabaseError(operation, error)

/** The migrations in a folder, oldest first; none when it has no journal yet. */
const readJournal = (folder: string): Effect.Effect<ReadonlyArray<Migration>, DatabaseError> =>
  Effect.tryPromise({
    try: async () => {
      const file = join(folder, "meta", "_journal.json")
      return existsSync(file) ? await readFile(file, "utf8") : '{"entries":[]}'
    },
    catch: failed,
  }).pipe(
    Effect.flatMap(Schema.decode(Journal)),
    Effect.map(({ entries }) => entries),
    Effect.catchTag("ParseError", () =>
      Effect.fail(
        databaseError("Other", operation, `${folder}/meta/_journal.json cannot be read; reinstall Tieout`),
      ),
    ),
  )

/** When the newest applied migration was made (milliseconds, drizzle's own measure); undefined on an empty database. */
const newestApplied = Effect.fn("Migrate.newestApplied")(function* () {
  const database = yield* Database
  const [found] = yield* database.query(
    operation,
    (sql) =>
      sql<[{ there: boolean }]>`select to_regclass('drizzle.__drizzle_migrations') is not null as there`,
  )
  if (!found.there) return undefined
  const [newest] = yield* database.query(
    operation,
    (sql) => sql<[{ at: bigint | null }]>`select max(created_at) as at from drizzle.__drizzle_migrations`,
  )
  return newest.at === null ? undefined : Number(newest.at)
})

/**
 * The names of the migrations that this version of Tieout has and the database has not, in order. Fails with reason
 * `Settings` when the database was migrated by a newer version.
 */
export const pendingMigrations = Effect.fn("Migrate.pending")(function* (
  folder: string = packageMigrations,
): Effect.fn.Return<ReadonlyArray<string>, DatabaseError, Database> {
  const journal = yield* readJournal(folder)
  const newest = yield* newestApplied()
  if (newest === undefined) return journal.map(({ tag }) => tag)
  const last = journal.at(-1)
  if (last === undefined || last.when < newest) {
    return yield* databaseError(
      "Settings",
      operation,
      "the database was migrated by a newer version of Tieout; use that version",
    )
  }
  return journal.filter(({ when }) => when > newest).map(({ tag }) => tag)
})

/**
 * Brings the database to this version's schema, all pending migrations in one transaction, and answers their names. Any
 * number of processes may do so at once: one works, the others wait for it and find nothing to do.
 */
export const migrate = Effect.fn("Migrate.migrate")(function* (
  folder: string = packageMigrations,
): Effect.fn.Return<ReadonlyArray<string>, DatabaseError, Database> {
  const { settings } = yield* Database
  if ((yield* pendingMigrations(folder)).length === 0) return []
  return yield* Effect.acquireUseRelease(
    Effect.sync(() => openConnection(settings)),
    (connection) =>
      Effect.gen(function* () {
        const { client } = connection
        // drizzle's migrator crashes when two run at once.
        yield* Effect.tryPromise({
          try: () => client`select pg_advisory_lock(hashtextextended('tieout migrations', 0))`,
          catch: failed,
        })
        const pending = yield* pendingMigrations(folder)
        if (pending.length === 0) return pending
        yield* Effect.tryPromise({
          try: () => applyMigrations(makeOrm(client), { migrationsFolder: folder }),
          catch: failed,
        })
        return pending
      }),
    closeConnection,
  )
})
