import { Config, Context, Effect, Layer, Option, Redacted } from "effect"

/** Which database to use. */
export interface DatabaseSettings {
  /** The URL of a server, Postgres 15 or later; none: the embedded one. Contains the password. */
  readonly url: Option.Option<Redacted.Redacted<string>>
  /** The embedded server's data folder. */
  readonly dataDir: string
  /** Whether an embedded database is made where there is none; else that is an error. Default true. */
  readonly create?: boolean | undefined
  /** Whether an embedded database is used as its owner, who makes the tables; else as the role that can change none. */
  readonly asOwner?: boolean | undefined
  /** The most connections that this process opens for queries and transactions. Default 10. */
  readonly connections?: number | undefined
  /** Session settings of every connection, such as `probing`. */
  readonly session?: Readonly<Record<string, string>> | undefined
  /** Seconds after which a peer that says nothing is dead; for tests only. */
  readonly deadAfter?: number | undefined
}

/**
 * For work that writes rows page by page, where every look-up should be an index probe. A session caches its plans, and makes
 * the first ones while the tables are small and a sequential scan looks cheapest. As the tables grow, such a plan would make
 * every page slower than the one before.
 */
export const probing: Readonly<Record<string, string>> = {
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
}

const fromEnvironment = Config.all({
  // An empty variable is the same as none.
  url: Config.option(Config.redacted("DATABASE_URL")).pipe(
    Config.map(Option.filter((url) => Redacted.value(url).trim() !== "")),
  ),
  dataDir: Config.string("TIEOUT_DATA_DIR").pipe(
    Config.withDefault("./data"),
    Config.map((folder) => (folder.trim() === "" ? "./data" : folder)),
  ),
})

/** The database settings: from `DATABASE_URL` and `TIEOUT_DATA_DIR`, unless provided. */
export class DatabaseConfig extends Context.Tag("DatabaseConfig")<DatabaseConfig, DatabaseSettings>() {
  static readonly Default = Layer.effect(
    this,
    Effect.map(fromEnvironment, (found): DatabaseSettings => found),
  )
}
