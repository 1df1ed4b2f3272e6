import { Config, Context, Effect, Layer, Option, Redacted } from "effect"

/** Which database to use. */
export interface DatabaseSettings {
  /** A server of one's own, version 15 or later; without it the embedded one is used. Contains the password. */
  readonly url: Option.Option<Redacted.Redacted<string>>
  /** The embedded server's data folder. */
  readonly dataDir: string
  /** Most connections that this process opens for queries and transactions. 10 when not given. */
  readonly connections?: number | undefined
  /** Session settings of every connection, such as `probing`. */
  readonly session?: Readonly<Record<string, string>> | undefined
}

/**
 * For work that brings rows page by page, where every look-up is an index probe. A session keeps the plans of its
 * statements, and the first ones are made while the tables are small, when reading them whole looks cheapest; a plan of
 * that kind that is kept while the tables grow makes every page slower than the one before.
 */
export const probing: Readonly<Record<string, string>> = {
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  jit: "off",
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

/** The settings of the database: `DATABASE_URL` and `TIEOUT_DATA_DIR`, unless they are provided. */
export class DatabaseConfig extends Context.Tag("DatabaseConfig")<DatabaseConfig, DatabaseSettings>() {
  static readonly Default = Layer.effect(
    this,
    Effect.map(fromEnvironment, (found): DatabaseSettings => found),
  )
}
