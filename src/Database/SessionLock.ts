import { Data, Deferred, Effect, Option, type Scope } from "effect"
import { firstNames } from "../Common/Text.ts"
import { onlyRow } from "./AnswerRows.ts"
import type { Sql } from "./Client.ts"
import { bool } from "./Columns.ts"
import { type Connection, closeConnection, isUsable, openConnection } from "./ConnectionPool.ts"
import { type ConnectionSettings, deadAfter } from "./ConnectionSettings.ts"
import { type DatabaseError, lacksRight } from "./DatabaseError.ts"
import { lostConnection } from "./RunStatement.ts"
import { plainArray, textArray } from "./TextArray.ts"
import { open, undo } from "./TransactionStatements.ts"

/** Another process holds the lock. */
export class LockBusy extends Data.TaggedError("LockBusy")<{
  readonly lock: string
  readonly message: string
}> {}

/** How a lock is wanted: shared by several holders, or held by one alone. */
export interface Wanted {
  readonly lock: string
  readonly shared: boolean
}

/** For a message: an export has a lock of each of a hundred books. */
const named = (locks: ReadonlyArray<Wanted>): string => {
  const names = locks.map(({ lock }) => lock)
  return firstNames(names, 3)
}

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
  /** Whether it is certain that the server holds no lock for this session: only then may it take another. */
  free: boolean
  /** Whether it has held a lock before, and may be stale. */
  used: boolean
}

/**
 * Sessions kept open for the next lock: backfills and events hold the connection's lock for moments, two locks each,
 * and a new session costs more than their work meanwhile.
 */
const idleSessions = 2

/** Heartbeats within the time after which a holder is dead, and how many of them may stay unanswered. */
const beats = 4
const unansweredAtMost = 2

/** The part of that time after which an announcement is passed over whose holder says nothing: nobody but others' turn depends on it. */
const announcedPart = 1 / 4

/** The server's key of a lock `t.lock`. */
const keyOf = (sql: Sql) => sql`hashtextextended('tieout ' || t.lock, 0)`

/** Whether somebody holds a lock `t.lock`. The server shows the two halves of its key; a standby shows no lock of those who write. */
export const isHeld = (sql: Sql) => sql`(pg_is_in_recovery() or exists (
  select from pg_locks l
  where l.locktype = 'advisory' and l.objsubid = 1 and l.granted
    and l.database = (select d.oid from pg_database d where d.datname = current_database())
    and (l.classid::bigint << 32 | l.objid::bigint) = ${keyOf(sql)}))`

const opened = (settings: ConnectionSettings): Session => {
  const session: Session = {
    connection: openConnection(settings, () => session.onLost()),
    onLost: () => undefined,
    free: true,
    used: false,
  }
  return session
}

/**
 * Tells the server that the holder lives, and finds out whether the server does: one that has vanished closes no connection.
 * Uses the real clock, as the server does. Returns how to stop.
 *
 * Within a transaction, the server keeps the snapshot of a prepared statement until the next statement, and meanwhile cleans away
 * no row that was deleted anywhere in the database. A simple statement keeps no snapshot, so the first heartbeat is sent at once.
 */
const beating = ({ connection, onLost }: Session, seconds: number): (() => void) => {
  let unanswered = 0
  const beat = () => {
    if (unanswered >= unansweredAtMost) {
      connection.lost = true
      return onLost()
    }
    unanswered += 1
    // A connection that closes says so itself.
    connection.client.unsafe("select 1").then(
      () => {
        unanswered = 0
      },
      () => undefined,
    )
  }
  beat()
  const timer = setInterval(beat, seconds * 1_000)
  return () => clearInterval(timer)
}

/** Locks that all processes on one database see. */
export const makeSessionLocks = Effect.fn("Database.sessionLocks")(function* (settings: ConnectionSettings) {
  const idle: Array<Session> = []
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() =>
      Effect.forEach(idle.splice(0), ({ connection }) => closeConnection(connection), { discard: true }),
    ),
  )

  const usable = ({ connection, free }: Session): boolean => free && isUsable(connection)

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

  /** Released explicitly, because the server frees the locks of a closed connection only a moment later. */
  const release = (session: Session) =>
    Effect.zipRight(
      undo(session.connection, "rollback"),
      Effect.sync(() => {
        session.free = true
      }),
    )

  /**
   * Begins the transaction of the locks, and asks for all. `silence`: seconds without a word after which the server ends it. A server may
   * bound the length of any transaction; not of this one.
   */
  const take = (
    session: Session,
    locks: ReadonlyArray<Wanted>,
    silence: number,
  ): Effect.Effect<boolean, DatabaseError> => {
    const found = { taken: false }
    return open(session.connection, {
      idle: `${Math.round(silence * 1_000)}ms`,
      guard: {
        operation: "Database.tryLock",
        statement: (sql) => sql`
          select bool_and(case when w.shared then pg_try_advisory_xact_lock_shared(w.key)
              else pg_try_advisory_xact_lock(w.key) end) as taken,
            case when current_setting('server_version_num')::int >= 170000
              then set_config('transaction_timeout', '0', true) end is not null as unbounded,
            pg_is_in_recovery() as standby
          from (
            select ${keyOf(sql)} as key, t.shared
            from unnest(${textArray(
              sql,
              locks.map(({ lock }) => lock),
            )}, ${plainArray(
              sql,
              locks.map(({ shared }) => String(shared)),
            )}::boolean[]) as t (lock, shared)) w`,
        passes: (rows) =>
          Effect.sync(() => {
            const row = onlyRow("Database.tryLock", { taken: bool, unbounded: bool, standby: bool }, rows)
            found.taken = row.taken
            // The next lock is looked for where the others look for it by then.
            session.connection.onlyReads = row.standby
          }),
      },
    }).pipe(
      Effect.flatMap(({ guarded }) => guarded),
      Effect.map(() => found.taken),
    )
  }

  const attempt = Effect.fn("Database.tryLock")(function* (
    locks: ReadonlyArray<Wanted>,
    silence: number,
  ): Effect.fn.Return<SessionLock, LockBusy | DatabaseError, Scope.Scope> {
    const lost = yield* Deferred.make<never, DatabaseError>()
    const session = yield* Effect.acquireRelease(lend, giveBack)
    session.onLost = () => Deferred.unsafeDone(lost, Effect.fail(lostConnection(`lock ${named(locks)}`)))
    // Until the server has answered, the lock may be held: only closing the session frees it then.
    session.free = false
    const stale = session.used
    session.used = true
    const taken = yield* take(session, locks, silence).pipe(
      Effect.asSome,
      Effect.catchIf(
        ({ reason }) => stale && reason === "Unreachable",
        () => Effect.succeedNone,
      ),
    )
    // This session is lost; the next attempt gets another one.
    if (Option.isNone(taken)) return yield* attempt(locks, silence)
    if (!taken.value) {
      yield* release(session)
      return yield* new LockBusy({
        lock: named(locks),
        message: `Another process holds the lock "${named(locks)}". Wait for it to finish, or stop it.`,
      })
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => beating(session, silence / beats)),
      (stop) => Effect.zipRight(Effect.sync(stop), release(session)),
    )
    return { lost: Deferred.await(lost) }
  })

  /**
   * Takes locks without waiting, all or none, and holds them while the scope lives, as long as the transaction of a connection of
   * its own: they are free as soon as their holder is gone, even killed, and `deadAfter` at the latest, where the holder's machine
   * has vanished and sends no heartbeat. A pooler that gives a session to each transaction leaves it alone. The transaction reads
   * nothing, and keeps nothing from being cleaned.
   */
  const tryLocks = (
    ...locks: ReadonlyArray<Wanted>
  ): Effect.Effect<SessionLock, LockBusy | DatabaseError, Scope.Scope> => attempt(locks, deadAfter(settings))

  /**
   * As `tryLocks`, for a lock that only says what its holder is about to do. A process that is stopped, or a machine that vanishes, says so
   * for a few seconds: what is held up by it must be as right without it.
   */
  const announce = (announced: Wanted) => attempt([announced], deadAfter(settings) * announcedPart)

  /**
   * As `tryLocks`, for work that only reads the database: a role that may hold no locks goes without them. Such work writes
   * only into folders of its own.
   */
  const tryLocksOfReader = (...locks: ReadonlyArray<Wanted>) =>
    Effect.catchIf(
      tryLocks(...locks),
      (error) => error._tag === "DatabaseError" && error.sqlstate === lacksRight,
      () => Effect.succeed<SessionLock>({ lost: Effect.never }),
    )

  return { announce, tryLocks, tryLocksOfReader }
})
