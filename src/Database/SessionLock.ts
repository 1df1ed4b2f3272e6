import { Data, Deferred, Effect, Option, type Scope } from "effect"
import { bool } from "./Columns.ts"
import type { ConnectionSettings } from "./ConnectionSettings.ts"
import { type Connection, closeConnection, openConnection } from "./Connections.ts"
import type { DatabaseError } from "./DatabaseError.ts"
import { onlyRow } from "./Rows.ts"
import { lostConnection, runStatement } from "./Statement.ts"

/** Another process holds the lock. */
export class LockBusy extends Data.TaggedError("LockBusy")<{
  readonly lock: string
  readonly message: string
}> {}

/** A lock that is held. */
export interface SessionLock {
  /** Fails when the lock's connection is lost, and the lock with it; otherwise never ends. */
  readonly lost: Effect.Effect<never, DatabaseError>
}

/** A connection for one lock at a time. */
interface Session {
  readonly connection: Connection
  /** Called when the session is gone; set by the lock's holder. */
  onLost: () => void
  /** Whether the server certainly holds no lock for it: only then may it take another. */
  free: boolean
  /** Whether it has held a lock before, and may be stale. */
  used: boolean
}

/**
 * Sessions kept open for the next lock: backfills and events hold the connection's lock for moments, two locks each,
 * and a new session costs more than their work meanwhile.
 */
const idleSessions = 2

const opened = (settings: ConnectionSettings): Session => {
  const session: Session = {
    connection: openConnection(settings, () => session.onLost()),
    onLost: () => undefined,
    free: true,
    used: false,
  }
  return session
}

/** Locks that all processes on one database see. */
export const makeSessionLocks = Effect.fn("Database.sessionLocks")(function* (settings: ConnectionSettings) {
  const idle: Array<Session> = []
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() =>
      Effect.forEach(idle.splice(0), ({ connection }) => closeConnection(connection), { discard: true }),
    ),
  )

  const usable = ({ connection, free }: Session): boolean => free && !connection.lost && !connection.spoilt

  const lend = Effect.sync(() => {
    const live = idle.splice(0).filter(usable)
    const session = live.pop() ?? opened(settings)
    idle.push(...live)
    return session
  })

  const giveBack = (session: Session) =>
    Effect.suspend(() => {
      session.onLost = () => undefined
      if (!usable(session) || idle.length >= idleSessions) return closeConnection(session.connection)
      idle.push(session)
      return Effect.void
    })

  const attempt = Effect.fn("Database.tryLock")(function* (
    lock: string,
  ): Effect.fn.Return<SessionLock, LockBusy | DatabaseError, Scope.Scope> {
    const lost = yield* Deferred.make<never, DatabaseError>()
    const session = yield* Effect.acquireRelease(lend, giveBack)
    const { client } = session.connection
    session.onLost = () => Deferred.unsafeDone(lost, Effect.fail(lostConnection(`lock ${lock}`)))
    const key = `tieout ${lock}`
    const take = runStatement(
      session.connection,
      "Database.tryLock",
      () => client`select pg_try_advisory_lock(hashtextextended(${key}, 0)) as taken`,
    ).pipe(Effect.map((answer) => onlyRow("Database.tryLock", { taken: bool }, answer)))
    const release = runStatement(
      session.connection,
      "Database.unlock",
      () => client`select pg_advisory_unlock(hashtextextended(${key}, 0))`,
    )
    // Until the server has answered, the lock may be held: only closing the session frees it then.
    session.free = false
    const stale = session.used
    session.used = true
    const answer = yield* take.pipe(
      Effect.asSome,
      Effect.catchIf(
        ({ reason }) => stale && reason === "Unreachable",
        () => Effect.succeedNone,
      ),
    )
    // This session is lost; the next attempt gets another one.
    if (Option.isNone(answer)) return yield* attempt(lock)
    if (!answer.value.taken) {
      session.free = true
      return yield* new LockBusy({
        lock,
        message: `Another process holds the lock "${lock}". Wait for it to finish, or stop it.`,
      })
    }
    // Explicit, because the server frees the locks of a closed connection only a moment later.
    yield* Effect.addFinalizer(() =>
      release.pipe(
        Effect.zipRight(
          Effect.sync(() => {
            session.free = true
          }),
        ),
        Effect.ignore,
      ),
    )
    return { lost: Deferred.await(lost) }
  })

  /**
   * Takes a lock without waiting, and holds it while the scope lives. It is a session lock on a connection of its own, so it is
   * free as soon as its holder is gone, even killed.
   */
  const tryLock = (lock: string): Effect.Effect<SessionLock, LockBusy | DatabaseError, Scope.Scope> =>
    attempt(lock)

  return { tryLock }
})
