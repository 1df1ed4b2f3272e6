import postgres from "postgres"
import { codeOf } from "../../Common/ErrorCode.ts"
import { onlyRow } from "../AnswerRows.ts"
import { bool, nullable, text } from "../Columns.ts"
import { roleNames } from "../RoleStatements.ts"
import { type Cluster, readPassword } from "./Cluster.ts"
import { sleep } from "./Command.ts"
import { EmbeddedError } from "./EmbeddedError.ts"
import type { Postmaster } from "./PidFile.ts"
import { type EmbeddedRole, mark, nameOf, passwordOf, prepareRoles } from "./RuntimeRole.ts"
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

interface Entry {
  readonly cluster: Cluster
  readonly server: Postmaster
  readonly role: EmbeddedRole
  readonly password: string
}

const connect = ({ password, role, server }: Entry, database: string, onclose?: () => void) =>
  postgres({
    host: "127.0.0.1",
    ...addressOf(server),
    user: nameOf(role),
    password,
    database,
    ssl: false,
    max: 1,
    fetch_types: false,
    connect_timeout: 10,
    // The lock lives and dies with this connection: nothing may renew or close it but us.
    idle_timeout: 0,
    max_lifetime: null,
    onnotice: () => undefined,
    ...(onclose === undefined ? {} : { onclose }),
    connection: { application_name: "tieout presence" },
  })

/** A place at the server, and whether the roles and the database are there, as this version wants them. */
interface Entered extends Presence {
  readonly made: boolean
  readonly ready: boolean
}

const entryColumns = { entered: bool, made: bool, mark: nullable(text) }

/** Takes the shared lock; undefined while the last one to leave is stopping the server. */
const enter = async (entry: Entry): Promise<Entered | undefined> => {
  let closed: () => void = () => undefined
  const lost = new Promise<void>((resolve) => {
    closed = resolve
  })
  const sql = connect(entry, presence.database, closed)
  let found: { readonly made: boolean; readonly ready: boolean }
  try {
    const answer = await sql`
      select pg_try_advisory_lock_shared(${presence.key}::bigint) as entered,
             exists (select from pg_database where datname = ${databaseName}) as made,
             (select shobj_description(r.oid, 'pg_authid') from pg_roles r where r.rolname = ${roleNames.runtime}) as mark`
    const row = onlyRow("Embedded.enter", entryColumns, answer)
    if (!row.entered) {
      await sql.end({ timeout: 1 })
      return undefined
    }
    found = { made: row.made, ready: row.made && row.mark === mark() }
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
      if (last) await stopServer(entry.cluster)
    } finally {
      await sql.end({ timeout: 1 })
    }
  }
  const { password, server } = entry
  return { server, password, lost, leave, ...found }
}

/** Makes the database, and the role that runs Tieout, or brings its rights up to date. */
const prepare = async (owner: Entry, { made }: Entered): Promise<void> => {
  const within = async (database: string, work: (sql: postgres.Sql) => Promise<unknown>) => {
    const sql = connect(owner, database)
    await work(sql).finally(() => sql.end({ timeout: 1 }))
  }
  if (!made) {
    await within(presence.database, (sql) =>
      sql`create database ${sql(databaseName)}`.catch((error: unknown) => {
        // Another client made it at the same moment.
        if (!["42P04", "23505"].includes(codeOf(error) ?? "")) throw error
      }),
    )
  }
  await within(databaseName, (sql) => prepareRoles(sql, passwordOf("runtime", owner.password)))
}

/** SQLSTATE of a wrong password, and of a role that is not there. */
const refusedEntry = "28P01"

/**
 * Enters as one of the two roles; undefined while the server is being stopped. The owner first makes what the runtime role
 * lacks, the role itself included, and holds the server meanwhile.
 */
const enterAs = async (
  cluster: Cluster,
  server: Postmaster,
  role: EmbeddedRole,
): Promise<Presence | undefined> => {
  const secret = await readPassword(cluster)
  const entryOf = (entryRole: EmbeddedRole): Entry => ({
    ...{ cluster, server, role: entryRole, password: passwordOf(entryRole, secret) },
  })
  let entered: Entered | undefined
  let refused = false
  if (role === "runtime") {
    try {
      entered = await enter(entryOf("runtime"))
      if (entered === undefined || entered.ready) return entered
    } catch (error) {
      if (codeOf(error) !== refusedEntry) throw error
      refused = true
    }
  }
  let held: Entered | undefined
  try {
    held = await enter(entryOf("owner"))
    if (held === undefined) return undefined
    if (refused || !held.ready) await prepare(entryOf("owner"), held)
    const chosen = role === "owner" ? held : (entered ?? (await enter(entryOf("runtime"))))
    if (chosen === held) held = undefined
    if (chosen === entered) entered = undefined
    return chosen
  } finally {
    await entered?.leave()
    await held?.leave()
  }
}

/** Enters the shared server, starting it when it does not run. */
export const joinServer = async (cluster: Cluster, role: EmbeddedRole): Promise<Presence> => {
  const began = performance.now()
  let last: unknown
  while (performance.now() - began < joinWithin) {
    const server = await ensureRunning(cluster)
    try {
      const entered = await enterAs(cluster, server, role)
      if (entered !== undefined) return entered
    } catch (error) {
      const code = codeOf(error) ?? ""
      if (code === refusedEntry) {
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
