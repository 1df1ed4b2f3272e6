/**
 * pg-boss's statements over our own client: one place decides how the server is reached (TLS, Unix socket, its parameters, a pooler
 * between), and one driver speaks to it.
 */
import type { ConstructorOptions } from "pg-boss"
import { type Client, makeClient } from "../Database/Client.ts"
import type { ConnectionSettings } from "../Database/ConnectionSettings.ts"
import { onlyReads, toDatabaseError } from "../Database/DatabaseError.ts"

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

const isForReading = (error: unknown): boolean => toDatabaseError("", error).sqlstate === onlyReads

export const bossDatabase = (settings: ConnectionSettings): BossDatabase => {
  const open = (most: number): Client => {
    const client = makeClient(settings, { connections: most, applicationName })
    readAsNodePostgres(client)
    return client
  }
  let client = open(connections)
  /** A session that was opened while the server could only be read stays so, and another may be written to again. */
  const renew = (used: Client): void => {
    if (used !== client) return
    client = open(connections)
    used.end({ timeout: 5 }).catch(() => undefined)
  }
  return {
    db: {
      executeSql: async (statement, values = []) => {
        // Not a reserved connection: the driver never reports that a session opened for one is open. A script that fails
        // half-way ends its transaction with its session.
        const own = isScript(statement) ? open(1) : undefined
        const used = own ?? client
        try {
          // Without values as one simple query, which may hold several statements.
          return { rows: rowsOf(await used.unsafe(statement, values)) }
        } catch (error) {
          if (isForReading(error)) renew(used)
          throw error
        } finally {
          await own?.end({ timeout: 5 })
        }
      },
    },
    close: () => client.end({ timeout: 5 }),
  }
}
