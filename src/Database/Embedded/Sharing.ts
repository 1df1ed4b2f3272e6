import postgres from "postgres"
import { bool } from "../Columns.ts"
import { onlyRow } from "../Rows.ts"
import { type Cluster, readPassword, superuser } from "./Cluster.ts"
import { sleep } from "./Command.ts"
import { codeOf, EmbeddedError } from "./EmbeddedError.ts"
import type { Postmaster } from "./PidFile.ts"
import { ensureRunning, stopServer } from "./Server.ts"
import { socketFile } from "./Socket.ts"

/** The database that Tieout's tables are in. */
export const databaseName = "tieout"

/** The advisory lock that every client holds shared for as long as it uses the server. Advisory locks are per database. */
const presence = { key: "7305808869231650164", database: "postgres" } as const

/** Milliseconds until a server that is up must have let us in. */
const joinWithin = 120_000

/** Errors that pass: the server is starting or stopping, or went away between two looks. */
const passing: ReadonlySet<string> = new Set([
  ...["57P01", "57P02", "57P03", "53300"],
  ...["CONNECTION_CLOSED", "CONNECTION_ENDED", "CONNECTION_DESTROYED", "CONNECT_TIMEOUT"],
  ...["ECONNREFUSED", "ECONNRESET", "ENOENT", "EPIPE"],
])

/** One client's place at the shared server. */
export interface Presence {
  readonly server: Postmaster
  readonly password: string
  /** Settles when the connection that holds the lock is lost. */
  readonly lost: Promise<void>
  readonly leave: () => Promise<void>
}

/** Where a server is to be reached: a socket's path, or a port on loopback. */
export const addressOf = (server: Postmaster): { readonly path: string } | { readonly port: number } =>
  server.socketDir === "" ? { port: server.port } : { path: socketFile(server.socketDir, server.port) }

const connect = (server: Postmaster, password: string, onclose: () => void) =>
  postgres({
    host: "127.0.0.1",
    ...addressOf(server),
    user: superuser,
    password,
    database: presence.database,
    ssl: false,
    max: 1,
    fetch_types: false,
    connect_timeout: 10,
    // The lock lives and dies with this connection: nothing may renew or close it but us.
    idle_timeout: 0,
    max_lifetime: null,
    onnotice: () => undefined,
    onclose,
    connection: { application_name: "tieout presence" },
  })

/** Takes the shared lock; undefined while the last one to leave is stopping the server. */
const enter = async (
  cluster: Cluster,
  server: Postmaster,
  password: string,
): Promise<Presence | undefined> => {
  let closed: () => void = () => undefined
  const lost = new Promise<void>((resolve) => {
    closed = resolve
  })
  const sql = connect(server, password, closed)
  try {
    const entry = await sql`
      select pg_try_advisory_lock_shared(${presence.key}::bigint) as entered,
             exists (select from pg_database where datname = ${databaseName}) as made`
    const { entered, made } = onlyRow("Embedded.enter", { entered: bool, made: bool }, entry)
    if (!entered) {
      await sql.end({ timeout: 1 })
      return undefined
    }
    if (!made) {
      await sql`create database ${sql(databaseName)}`.catch((error: unknown) => {
        // Another client made it at the same moment.
        if (!["42P04", "23505"].includes(codeOf(error) ?? "")) throw error
      })
    }
  } catch (error) {
    await sql.end({ timeout: 1 })
    throw error
  }
  const leave = async () => {
    try {
      const exit = await sql`
        select pg_advisory_unlock_shared(${presence.key}::bigint) as left,
               pg_try_advisory_lock(${presence.key}::bigint) as last`
      const { last } = onlyRow("Embedded.leave", { left: bool, last: bool }, exit)
      // Nobody can enter while we hold the lock exclusively, so nobody loses the server.
      if (last) await stopServer(cluster)
    } finally {
      await sql.end({ timeout: 1 })
    }
  }
  return { server, password, lost, leave }
}

/** Enters the shared server, starting it when it does not run. */
export const joinServer = async (cluster: Cluster): Promise<Presence> => {
  const began = Date.now()
  let last: unknown
  while (Date.now() - began < joinWithin) {
    const server = await ensureRunning(cluster)
    const password = await readPassword(cluster)
    try {
      const entered = await enter(cluster, server, password)
      if (entered !== undefined) return entered
    } catch (error) {
      const code = codeOf(error) ?? ""
      if (code === "28P01") {
        throw new EmbeddedError({
          reason: "Folder",
          message:
            `The password in ${cluster.place.home}/password is not the one this database was made with. ` +
            "Restore that file from the backup that the data came from.",
        })
      }
      if (!passing.has(code)) throw error
      last = error
    }
    await sleep(25)
  }
  throw new EmbeddedError({
    reason: "StartFailed",
    message:
      `The Postgres server on ${cluster.folder} runs but lets nobody in` +
      `${last instanceof Error ? ` (${last.message})` : ""}. See ${cluster.log}; if it hangs, stop its process ` +
      "(the first line of postmaster.pid in that folder) and start again.",
  })
}
