/** The environment of commands that work on books: the settings with the necessary secrets, and the database. */
import { Effect, Either, Layer, Option } from "effect"
import { DatabaseConfig, probing } from "../Database/DatabaseConfig.ts"
import { databaseError, readOnlyError } from "../Database/DatabaseError.ts"
import { awaitPrimary, mayWrite, refuseUnguarded } from "../Database/MayWrite.ts"
import { migrate } from "../Database/Migrate.ts"
import { pendingMigrations } from "../Database/Migrations/Pending.ts"
import { Database } from "../Database.ts"
import { everything, type Needs } from "../Settings/Secrets.ts"
import { Settings, SettingsSource } from "../Settings.ts"
import { UsageError } from "./Failure.ts"

/** A new database is begun only if some connection's settings are complete; else the first one's mistakes are reported. */
const oneComplete = Effect.fn("Cli.oneComplete")(function* ({ connection, connectionNames }: Settings) {
  const all = yield* Effect.forEach(connectionNames, (name) => Effect.either(connection(name)))
  const [first] = all
  if (first !== undefined && all.every(Either.isLeft)) yield* first
})

interface Use {
  readonly session?: Readonly<Record<string, string>>
  /** Whether an embedded database is made where there is none. */
  readonly create?: boolean
  /** Whether it is made only if some connection's settings are complete. */
  readonly complete?: boolean
  /** Whether an embedded database is used as its owner, who makes the tables. */
  readonly asOwner?: boolean
  /** The most connections to the database, instead of the default. */
  readonly connections?: number
}

const databaseFor = ({ asOwner = false, complete = false, connections, create = false, session = {} }: Use) =>
  Database.DefaultWithoutDependencies.pipe(
    Layer.provide(
      Layer.effect(
        DatabaseConfig,
        Effect.map(complete ? Effect.tap(Settings, oneComplete) : Settings, ({ databaseUrl, dataDir }) => ({
          url: databaseUrl,
          dataDir,
          ...{ session, create, asOwner, connections },
        })),
      ),
    ),
    Layer.provideMerge(Settings.Default),
  )

/** The database as the owner of its tables, without migrating it; an embedded one is made where there is none. */
export const ownersDatabase = databaseFor({ create: true, asOwner: true })

const migrating = Effect.flatMap(migrate(), (names) =>
  names.length === 0 ? Effect.void : Effect.logInfo(`Database brought up to date: ${names.join(", ")}`),
)

/** A command that writes fails if it cannot write, or writes past the rules, even if there is nothing to write. */
export const refuseReaders = Effect.flatMap(mayWrite(), (may) =>
  may ? refuseUnguarded("Database.write") : readOnlyError("Database.write"),
)

const migrated = Layer.effectDiscard(Effect.zipRight(migrating, refuseReaders))

const current = Layer.effectDiscard(
  Effect.flatMap(pendingMigrations(), (pending) =>
    pending.length === 0
      ? Effect.void
      : databaseError(
          "Settings",
          "Database.read",
          `the database is older than this version (it lacks ${pending.join(", ")}): run tieout migrate`,
        ),
  ),
)

/** For a command that only reads: an existing database of this version. Nothing in it is created or changed. */
export const booksToRead = Layer.provideMerge(current, databaseFor({}))

/** An existing database, for commands that write into it if they can; an older one is brought up to date. */
export const booksToPreview = Layer.provideMerge(Layer.effectDiscard(migrating), databaseFor({}))

/** An existing database that may be written, migrated to this version; else fails with reason `Settings`. */
export const books = Layer.provideMerge(migrated, databaseFor({}))

/** The same as the owner of its tables. */
export const ownersBooks = Layer.provideMerge(migrated, databaseFor({ asOwner: true }))

/** The migrated database for a command that writes rows page by page, with plans that suit it. */
export const booksForSync = Layer.provideMerge(migrated, databaseFor({ session: probing }))

/**
 * For processes that stay up: they may be started in the very moment in which another server takes over, and whoever starts them again
 * takes a mistake in the settings for final.
 */
const toStayUp = <E>(database: Layer.Layer<Database | Settings, E, SettingsSource>) =>
  Layer.provideMerge(
    migrated,
    Layer.provideMerge(Layer.effectDiscard(awaitPrimary("Database.write")), database),
  )

/** The same for `tieout serve`, which may begin new books, whose credentials are known by then. */
export const booksToServe = toStayUp(databaseFor({ create: true, complete: true }))

/** The migrated database for a sync that may begin new books, whose credentials are known by then. */
export const newBooksForSync = Layer.provideMerge(
  migrated,
  databaseFor({ session: probing, create: true, complete: true }),
)

/**
 * An existing database for one of many processes that sync. The server plans each statement anew in each session, and keeps what it
 * knows of the tables once for each: with ten sessions a worker costs the server a tenth more in a first night than with four, and
 * a fifth in a second one.
 */
export const booksForWorker = toStayUp(databaseFor({ session: probing, connections: 4 }))

/** Fails where the settings lack the requested connection: a typo must not look like good news. */
export const knownConnection = (connection: Option.Option<string>) =>
  Effect.flatMap(Settings, ({ connectionNames }) =>
    Option.exists(connection, (name) => !connectionNames.includes(name))
      ? new UsageError({
          detail: `There is no connection named ${JSON.stringify(Option.getOrElse(connection, () => ""))}; known: ${connectionNames.join(", ")}`,
          advice: "Name one of them, or leave --connection out for all.",
        })
      : Effect.void,
  )

const needing =
  (needs: Needs) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.provideServiceEffect(
      effect,
      SettingsSource,
      Effect.map(SettingsSource, (source) => ({ ...source, needs: Option.some(needs) })),
    )

/** For a command that reads from the service: reports missing credentials together with mistakes in the settings. */
export const needingCredentials = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  { connection }: { readonly connection: Option.Option<string> },
) => needing({ connection, statusToken: false })(effect)

/** For a server: needs the credentials of every connection, and the token of the status page. */
export const needingAllSecrets = needing(everything)
