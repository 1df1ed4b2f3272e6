import type { PostgresJsDatabase } from "drizzle-orm/postgres-js"
import { Effect, type Scope } from "effect"
import { type Client, connectTimeoutOf, makeClient, makeOrm } from "./Client.ts"
import { type ConnectionSettings, sessionSettings } from "./ConnectionSettings.ts"
import type { DatabaseError } from "./DatabaseError.ts"

/**
 * One connection, and whether its first session still lives. The driver's pool is unsafe for transactions: when a session
 * dies, it sends the rest of the transaction on the next session, outside any transaction.
 */
export interface Connection {
  readonly client: Client
  readonly orm: PostgresJsDatabase
  /** Follows `begin` where sessions keep no settings: a `set local …` for each setting; else empty. */
  readonly locals: string
  /** The session is gone. The connection is never used again: the driver may report the old error on the next session. */
  lost: boolean
  /** Its state is in doubt. Never used again either. */
  spoilt: boolean
  /**
   * The server refused a write. Never used again either: a session may stay read-only for its whole life, though the database can be
   * written to again, or another server has taken over.
   */
  onlyReads: boolean
  /** Why its transaction failed: the server says it to one statement, and refuses those beside and after it without a reason. */
  failedBy: DatabaseError | undefined
  /** Whether the server is still there: a new session reaches it, or fails for another reason than the server's absence. */
  readonly serverAnswers: () => Promise<boolean>
}

/** Lends connections, open ones first. */
export interface Connections {
  readonly take: Effect.Effect<Connection, never, Scope.Scope>
  /** Lends a connection while an effect runs. Opens no scope, as every statement outside a transaction comes here. */
  readonly use: <A, E, R>(effect: (lent: Connection) => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Seconds that a connection may take to close. */
const endWithin = 2

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** The setting's name may have a dot, which separates two names. */
export const setLocal = ([name, value]: readonly [string, string]): string =>
  `set local ${name.split(".").map(quoted).join(".")} = '${value.replaceAll("'", "''")}'`

const localsOf = (settings: ConnectionSettings): string =>
  settings.pooled === true
    ? Object.entries(sessionSettings(settings))
        .map((one) => `; ${setLocal(one)}`)
        .join("")
    : ""

/**
 * Errors that show that no server is there. Any other failure (names, certificates, our own files) says nothing about the
 * session in use.
 */
const absences: ReadonlySet<string> = new Set([
  "CONNECT_TIMEOUT",
  ...["ECONNREFUSED", "ECONNRESET", "EHOSTDOWN", "EHOSTUNREACH", "ENETUNREACH", "EPIPE", "ETIMEDOUT"],
])

const isAbsence = (error: unknown): boolean =>
  error instanceof Error && "code" in error && absences.has(String(error.code))

/**
 * Uses a statement, since the driver never reports that a merely reserved session is open. Where each new session is closed
 * without a word, as by a proxy with no server behind it, the driver retries for ever: that counts as silence, too.
 */
const answers = (settings: ConnectionSettings): Promise<boolean> =>
  new Promise((resolve) => {
    const settle = (isThere: boolean): void => {
      clearTimeout(silence)
      client.end({ timeout: 0 }).catch(() => undefined)
      resolve(isThere)
    }
    const client = makeClient(settings, { connections: 1 })
    const silence = setTimeout(settle, 2_000 * connectTimeoutOf(settings), false)
    client`select 1`.then(
      () => settle(true),
      (error: unknown) => settle(!isAbsence(error)),
    )
  })

/** Opens a connection (on its first query); `onclose` is called whenever its session ends. */
export const openConnection = (
  settings: ConnectionSettings,
  onclose: () => void = () => undefined,
): Connection => {
  const client = makeClient(settings, {
    connections: 1,
    onclose: () => {
      connection.lost = true
      onclose()
    },
  })
  const connection: Connection = {
    ...{ client, orm: makeOrm(client), locals: localsOf(settings) },
    ...{
      lost: false,
      spoilt: false,
      onlyReads: false,
      failedBy: undefined,
      serverAnswers: () => answers(settings),
    },
  }
  return connection
}

/** Whether its session may run another statement. */
export const isUsable = ({ lost, onlyReads, spoilt }: Connection): boolean => !lost && !onlyReads && !spoilt

export const closeConnection = (connection: Connection): Effect.Effect<void> =>
  Effect.promise(() => connection.client.end({ timeout: isUsable(connection) ? endWithin : 0 }))

/** At most `size` connections, opened when they are first needed and closed with the scope. */
export const makeConnections = Effect.fn("Connections.make")(function* (
  settings: ConnectionSettings,
  size: number,
): Effect.fn.Return<Connections, never, Scope.Scope> {
  const idle: Array<Connection> = []
  const places = yield* Effect.makeSemaphore(size)
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() =>
      Effect.forEach(idle.splice(0), closeConnection, { concurrency: "unbounded", discard: true }),
    ),
  )
  const lend = Effect.sync(() => {
    const live = idle.splice(0).filter(isUsable)
    const connection = live.pop() ?? openConnection(settings)
    idle.push(...live)
    return connection
  })
  const giveBack = (connection: Connection) =>
    Effect.suspend(() => {
      // Those that are idle were opened to the same server, and would read what is out of date once another has taken over.
      const last = connection.onlyReads ? [connection, ...idle.splice(0)] : [connection]
      if (!isUsable(connection))
        return Effect.forEach(last, closeConnection, { concurrency: "unbounded", discard: true })
      idle.push(connection)
      return Effect.void
    })
  const place = Effect.uninterruptibleMask((restore) =>
    restore(places.take(1)).pipe(Effect.zipRight(Effect.addFinalizer(() => places.release(1)))),
  )
  const use = <A, E, R>(effect: (lent: Connection) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    places.withPermits(1)(Effect.acquireUseRelease(lend, effect, giveBack))
  return { take: Effect.zipRight(place, Effect.acquireRelease(lend, giveBack)), use }
})
