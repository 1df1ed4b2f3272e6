import { Data, Deferred, Effect, type Scope } from "effect"
import type { ConnectionSettings } from "./ConnectionSettings.ts"
import { closeConnection, openConnection } from "./Connections.ts"
import type { DatabaseError } from "./DatabaseError.ts"
import { lostConnection, runStatement } from "./Statement.ts"

/** Somebody else holds the lock. */
export class LockBusy extends Data.TaggedError("LockBusy")<{
  readonly lock: string
  readonly message: string
}> {}

/** A lock that is held. */
export interface SessionLock {
  /** Fails when the connection that holds the lock is lost, and with it the lock; otherwise never ends. */
  readonly lost: Effect.Effect<never, DatabaseError>
}

/**
 * Takes a lock that all processes on this database see, without waiting, and holds it as long as the scope lives. It is a
 * session's lock on a connection of its own, so it is free as soon as its holder is gone, however it went.
 */
export const tryLock = Effect.fn("Database.tryLock")(function* (
  settings: ConnectionSettings,
  lock: string,
): Effect.fn.Return<SessionLock, LockBusy | DatabaseError, Scope.Scope> {
  const lost = yield* Deferred.make<never, DatabaseError>()
  const connection = yield* Effect.acquireRelease(
    Effect.sync(() =>
      openConnection(settings, () => Deferred.unsafeDone(lost, Effect.fail(lostConnection(`lock ${lock}`)))),
    ),
    closeConnection,
  )
  const { client } = connection
  const key = `tieout ${lock}`
  const take = runStatement(
    connection,
    "Database.tryLock",
    () => client<[{ taken: boolean }]>`select pg_try_advisory_lock(hashtextextended(${key}, 0)) as taken`,
  )
  const release = runStatement(
    connection,
    "Database.unlock",
    () => client`select pg_advisory_unlock(hashtextextended(${key}, 0))`,
  )
  const [{ taken }] = yield* take
  if (!taken) {
    return yield* new LockBusy({
      lock,
      message: `Another process holds the lock "${lock}". Wait for it to finish, or stop it.`,
    })
  }
  // Said aloud, because the server frees the locks of a closed connection only a moment later.
  yield* Effect.addFinalizer(() => Effect.ignore(release))
  return { lost: Deferred.await(lost) }
})
