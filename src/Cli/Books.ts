/** The environment of commands that work on books: the settings with the necessary secrets, and the database. */
import { Effect, Layer, Option } from "effect"
import { DatabaseConfig, probing } from "../Database/DatabaseConfig.ts"
import { migrate } from "../Database/Migrate.ts"
import { Database } from "../Database.ts"
import { everything, type Needs } from "../Settings/Secrets.ts"
import { Settings, SettingsSource } from "../Settings.ts"
import { UsageError } from "./Failure.ts"

const databaseWith = (session: Readonly<Record<string, string>>) =>
  Database.DefaultWithoutDependencies.pipe(
    Layer.provide(
      Layer.effect(
        DatabaseConfig,
        Effect.map(Settings, ({ databaseUrl, dataDir }) => ({ url: databaseUrl, dataDir, session })),
      ),
    ),
    Layer.provideMerge(Settings.Default),
  )

/** The database, without migrating it. */
export const database = databaseWith({})

const migrated = Layer.effectDiscard(
  Effect.tap(migrate(), (names) =>
    names.length === 0 ? Effect.void : Effect.logInfo(`Database brought up to date: ${names.join(", ")}`),
  ),
)

/** The database, migrated to this version. */
export const books = Layer.provideMerge(migrated, database)

/** The migrated database for a command that writes rows page by page, with plans that suit it. */
export const booksForSync = Layer.provideMerge(migrated, databaseWith(probing))

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
