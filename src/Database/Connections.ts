import type { PostgresJsDatabase } from "drizzle-orm/postgres-js"
import { Effect, type Scope } from "effect"
import { type Client, makeClient, makeOrm } from "./Client.ts"
import type { ConnectionSettings } from "./ConnectionSettings.ts"

/**
 * One connection of our own, and whether its session is still the one we began with. The driver's pool cannot be used
 * for transactions: when a session dies, it sends the rest of the transaction to the next one, outside any transaction.
 */
export interface Connection {
  readonly client: Client
  readonly orm: PostgresJsDatabase
  /** Set when the session is gone. Never used again: the driver may show the next session the last one's error. */
  lost: boolean
  /** Set when its state is in doubt. Never used again either. */
  spoilt: boolean
}

/** Lends connections; one that is warm goes out first. */
export interface Connections {
  readonly take: Effect.Effect<Connection, never, Scope.Scope>
  /** The same for as long as an effect runs. Every statement outside a transaction goes this way, so it opens no scope. */
  readonly use: <A, E, R>(effect: (lent: Connection) => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Seconds that a connection may take to say goodbye. */
const endWithin = 2

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
  const connection: Connection = { client, orm: makeOrm(client), lost: false, spoilt: false }
  return connection
}

const isUsable = (connection: Connection): boolean => !connection.lost && !connection.spoilt

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
      if (!isUsable(connection)) return closeConnection(connection)
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
