/**
 * pg-boss's statements over our own client: one place decides how the server is reached (TLS, Unix socket, `search_path`, a pooler
 * between), and one driver speaks to it.
 */
import type { ConstructorOptions } from "pg-boss"
import { type Client, makeClient } from "../Database/Client.ts"
import type { ConnectionSettings } from "../Database/ConnectionSettings.ts"

/** Connections of one process. */
const connections = 3

/** A script is one text that begins and ends a transaction, so it needs a connection of its own. */
const isScript = (text: string): boolean => /^\s*begin\b/i.test(text)

/** Several statements sent at once answer with a list of rows each. */
const rowsOf = (result: ReadonlyArray<unknown>): Array<unknown> =>
  result.some((one) => Array.isArray(one)) ? result.flat() : [...result]

const text = (value: string): string => value

/** Reads times and whole numbers as node-postgres does, which pg-boss expects. */
const readAsNodePostgres = ({ options: { parsers } }: Client): void => {
  for (const oid of [1114, 1184]) parsers[oid] = (value: string) => new Date(value)
  parsers[20] = text
}

export interface BossDatabase {
  readonly db: NonNullable<ConstructorOptions["db"]>
  readonly close: () => Promise<void>
}

const applicationName = "tieout jobs"

export const bossDatabase = (settings: ConnectionSettings): BossDatabase => {
  const client = makeClient(settings, { connections, applicationName })
  readAsNodePostgres(client)
  return {
    db: {
      executeSql: async (statement, values = []) => {
        // Without values as one simple query, which may hold several statements.
        if (!isScript(statement)) return { rows: rowsOf(await client.unsafe(statement, values)) }
        // Not a reserved connection: the driver never reports that a session opened for one is open. A script that fails
        // half-way ends its transaction with its session.
        const own = makeClient(settings, { connections: 1, applicationName })
        readAsNodePostgres(own)
        try {
          return { rows: rowsOf(await own.unsafe(statement, values)) }
        } finally {
          await own.end({ timeout: 5 })
        }
      },
    },
    close: () => client.end({ timeout: 5 }),
  }
}
