/** The database that a campaign plays in: a server of its own, and a copy of the migrated tables for every worker. */
import { randomBytes } from "node:crypto"
import { Effect, Layer, Option, Redacted } from "effect"
import { makeClient } from "../../src/Database/Client.ts"
import { probing } from "../../src/Database/DatabaseConfig.ts"
import { parseDatabaseUrl } from "../../src/Database/DatabaseUrl.ts"
import { migrate } from "../../src/Database/Migrate.ts"
import { Database } from "../../src/Database.ts"
import { withDatabase } from "../support/DatabaseAddress.ts"
import { standardRates } from "./RateTable.ts"

/** Settings of a campaign's sessions: plans are made once, because every history runs the same queries on small books. */
const session = { ...probing, plan_cache_mode: "force_generic_plan" }

const database = (url: string) =>
  Database.layer({ url: Option.some(Redacted.make(url)), dataDir: "unused", connections: 3, session })

/** One statement in a session of its own. */
export const askServer = (url: string, statement: string) =>
  Effect.acquireUseRelease(
    Effect.map(parseDatabaseUrl(Redacted.make(url)), (settings) => makeClient(settings, { connections: 1 })),
    (client) => Effect.promise(() => client.unsafe(statement)),
    (client) => Effect.promise(() => client.end({ timeout: 2 })),
  ).pipe(Effect.orDie)

/** A new database with the tables of this version; gives its URL. Dropped with the scope. */
export const freshDatabase = (url: string) =>
  Effect.gen(function* () {
    const name = `tieout_campaign_${randomBytes(6).toString("hex")}`
    yield* Effect.acquireRelease(askServer(url, `create database ${name}`), () =>
      askServer(url, `drop database if exists ${name} with (force)`),
    )
    const own = withDatabase(url, name)
    yield* Effect.provide(Effect.zipRight(migrate(), standardRates), database(own))
    return own
  })

/** A copy of a database that nobody uses; gives its URL. Dropped with the scope. */
export const copyOf = (url: string) =>
  Effect.gen(function* () {
    const template = new URL(url).pathname.slice(1)
    const name = `${template}_${randomBytes(4).toString("hex")}`
    const maintenance = withDatabase(url, "postgres")
    yield* Effect.acquireRelease(
      askServer(maintenance, `create database ${name} template ${template} strategy file_copy`),
      () => askServer(maintenance, `drop database if exists ${name} with (force)`),
    )
    return withDatabase(url, name)
  })

/** Puts what `fill` makes of a new, empty database in the place of another one, whose sessions end. */
export const replaced = <A, E>(url: string, fill: Effect.Effect<A, E, Database>) =>
  Effect.gen(function* () {
    const name = new URL(url).pathname.slice(1)
    const maintenance = withDatabase(url, "postgres")
    yield* askServer(maintenance, `create database ${name}_new`)
    const made = yield* Effect.provide(fill, inDatabase(withDatabase(url, `${name}_new`)))
    yield* askServer(maintenance, `drop database ${name} with (force)`)
    yield* askServer(maintenance, `alter database ${name}_new rename to ${name}`)
    return made
  })

/** `Database` in a database of a campaign. */
export const inDatabase = (url: string): Layer.Layer<Database> => Layer.orDie(database(url))
