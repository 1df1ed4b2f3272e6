import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js"
import { Redacted } from "effect"
import postgres from "postgres"
import { readArray, writeArray } from "./ArrayText.ts"
import { type ConnectionSettings, pooledSettings, sessionSettings } from "./ConnectionSettings.ts"

/** How column types are read: int8 as a JS bigint; numeric, date and timestamps as the server's text. */
interface Types extends Record<string, unknown> {
  readonly bigint: bigint
}

/** A whole postgres.js client. */
export type Client = postgres.Sql<Types>

/** Runs queries: a client or a transaction, without the means to open another transaction. */
export type Sql = postgres.ISql<Types>

/** drizzle over a client. For queries only; transactions are `Database.transaction`'s. */
export type Orm = Omit<PostgresJsDatabase, "transaction">

/** Seconds until a connection must be open. */
export const connectTimeoutOf = ({ connectTimeout = 10 }: ConnectionSettings): number => connectTimeout

/** JSON as text: drizzle passes text, other callers the value. */
const jsonText = (value: unknown): unknown => (typeof value === "string" ? value : JSON.stringify(value))

/** The OIDs of json and jsonb. */
const jsons = [114, 3802]

const asText = (item: string): unknown => item

const unchanged = (value: unknown): unknown => value

/** How the items of each array type are read, by the array's OID; arrays of other types come back as text. */
const items: ReadonlyArray<readonly [oid: number, read: (item: string) => unknown]> = [
  [1000, (item) => item === "t"], // bool
  [1007, (item) => Number.parseInt(item, 10)], // int4
  [1009, asText], // text
  [1015, asText], // varchar
  [1016, (item) => BigInt(item)], // int8
  [1115, asText], // timestamp
  [1182, asText], // date
  [1185, asText], // timestamptz
  [1231, asText], // numeric
  [2951, asText], // uuid
]

const arrays = items.map(([oid, read]) => ({ oid, parse: (text: string) => readArray(text, read) }))

/** Types read as the server's text: date, time, timestamp, timestamptz. The driver would make a `Date` of most. */
const texts = [1082, 1083, 1114, 1184]

/** An array as Postgres reads it; drizzle passes text already. */
const arrayText = (value: unknown): unknown => (Array.isArray(value) ? writeArray(value) : value)

/**
 * Sets how arrays, JSON and times are written and read. The driver would query the array types in each new session, and
 * drizzle replaces all of these functions by its own.
 */
const setTypes = (client: Client): void => {
  const { parsers, serializers } = client.options
  for (const { oid, parse } of arrays) {
    serializers[oid] = arrayText
    parsers[oid] = parse
  }
  for (const oid of jsons) serializers[oid] = jsonText
  for (const oid of texts) {
    parsers[oid] = asText
    serializers[oid] = unchanged
  }
}

export interface ClientOptions {
  readonly connections: number
  readonly applicationName?: string | undefined
  readonly onclose?: (() => void) | undefined
}

/** Opens a client lazily: nothing is sent before the first query. */
export const makeClient = (settings: ConnectionSettings, options: ClientOptions): Client => {
  const { password, path } = settings
  // The driver writes into what it is given.
  const ssl = typeof settings.ssl === "object" ? { ...settings.ssl } : settings.ssl
  const client = postgres({
    host: settings.host,
    port: settings.port,
    ...(path === undefined ? {} : { path }),
    database: settings.database,
    user: settings.username,
    ...(password === undefined ? {} : { password: Redacted.value(password) }),
    ssl,
    max: options.connections,
    connect_timeout: connectTimeoutOf(settings),
    // Seconds. The default grows to 20, long after the server is back.
    backoff: () => 0.05,
    // The driver could renew or close a connection in the middle of a transaction.
    idle_timeout: 0,
    max_lifetime: null,
    // A name is known to the session alone that it was given in.
    prepare: settings.pooled !== true,
    fetch_types: false,
    onnotice: () => undefined,
    ...(options.onclose === undefined ? {} : { onclose: options.onclose }),
    types: { bigint: postgres.BigInt },
    connection: {
      ...(settings.pooled === true ? pooledSettings : sessionSettings(settings)),
      application_name: options.applicationName ?? settings.applicationName ?? "tieout",
    },
  })
  setTypes(client)
  return client
}

/** drizzle over a client. */
export const makeOrm = (client: Client): PostgresJsDatabase => {
  const orm = drizzle(client)
  setTypes(client)
  return orm
}
