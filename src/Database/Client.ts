import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js"
import { Redacted } from "effect"
import postgres from "postgres"
import { readArray, writeArray } from "./ArrayText.ts"
import type { ConnectionSettings } from "./ConnectionSettings.ts"

/** How our columns come back: `bigint` (int8) as a JS bigint; numeric, date and timestamps as the server's text. */
interface Types extends Record<string, unknown> {
  readonly bigint: bigint
}

/** A whole postgres.js client. */
export type Client = postgres.Sql<Types>

/** What queries are written with: a client or a transaction, without the means to open another one. */
export type Sql = postgres.ISql<Types>

/** drizzle over a client. For queries only; transactions are `Database.transaction`'s. */
export type Orm = Omit<PostgresJsDatabase, "transaction">

/** Seconds until a connection must be open. */
const connectWithin = 10

/** JSON in either form: drizzle hands over text, others the value. */
const jsonText = (value: unknown): unknown => (typeof value === "string" ? value : JSON.stringify(value))

/** The OIDs of json and jsonb. */
const jsons = [114, 3802]

const same = (item: string): unknown => item

const given = (value: unknown): unknown => value

/** How the items of each array type come back, by the OID of the array; arrays of other types come back as text. */
const items: ReadonlyArray<readonly [oid: number, read: (item: string) => unknown]> = [
  [1000, (item) => item === "t"], // bool
  [1007, (item) => Number.parseInt(item, 10)], // int4
  [1009, same], // text
  [1015, same], // varchar
  [1016, (item) => BigInt(item)], // int8
  [1115, same], // timestamp
  [1182, same], // date
  [1185, same], // timestamptz
  [1231, same], // numeric
  [2951, same], // uuid
]

const arrays = items.map(([oid, read]) => ({ oid, parse: (text: string) => readArray(text, read) }))

/** What comes back as the server's text: date, time, timestamp, timestamptz. The driver would make a `Date` of most. */
const texts = [1082, 1083, 1114, 1184]

/** An array as Postgres reads it; drizzle hands over text already. */
const arrayText = (value: unknown): unknown => (Array.isArray(value) ? writeArray(value) : value)

/**
 * How arrays, JSON and times are written and read. For arrays the driver would ask each new session; drizzle changes all of
 * it to its own liking.
 */
const setTypes = (client: Client): void => {
  const { parsers, serializers } = client.options
  for (const { oid, parse } of arrays) {
    serializers[oid] = arrayText
    parsers[oid] = parse
  }
  for (const oid of jsons) serializers[oid] = jsonText
  for (const oid of texts) {
    parsers[oid] = same
    serializers[oid] = given
  }
}

/** How the database knows a session of the program: it refuses all others to write (`TO012` in `drizzle/rules.sql`). */
const ours: Readonly<Record<string, string>> = { "tieout.program": "on" }

export interface ClientOptions {
  readonly connections: number
  readonly applicationName?: string | undefined
  readonly onclose?: (() => void) | undefined
}

/** Opens a client lazily: nothing is sent before the first query. Every session speaks UTC and ISO dates. */
export const makeClient = (settings: ConnectionSettings, options: ClientOptions): Client => {
  const { password, path, ssl } = settings
  const client = postgres({
    host: settings.host,
    port: settings.port,
    ...(path === undefined ? {} : { path }),
    database: settings.database,
    user: settings.username,
    ...(password === undefined ? {} : { password: Redacted.value(password) }),
    ssl,
    max: options.connections,
    connect_timeout: connectWithin,
    // Seconds. The default grows to 20, long after the server is back.
    backoff: () => 0.05,
    // A connection that is renewed or closed while idle could be one in the middle of a transaction.
    idle_timeout: 0,
    max_lifetime: null,
    prepare: true,
    fetch_types: false,
    onnotice: () => undefined,
    ...(options.onclose === undefined ? {} : { onclose: options.onclose }),
    types: { bigint: postgres.BigInt },
    connection: {
      ...settings.parameters,
      application_name: options.applicationName ?? "tieout",
      ...ours,
      TimeZone: "UTC",
      DateStyle: "ISO, YMD",
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
