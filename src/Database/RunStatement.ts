import { channel } from "node:diagnostics_channel"
import { Effect } from "effect"
import type { Connection } from "./ConnectionPool.ts"
import { type DatabaseError, databaseError, onlyReads, toDatabaseError } from "./DatabaseError.ts"

/** Names every statement as it is run. The tests listen, to find those that no test runs; without a listener it costs nothing. */
export const statements = channel("tieout:statement")

/** What the server says of every further statement of a transaction that has failed. */
const inFailed = "25P02"

/** A postgres.js query is a promise that can be cancelled. */
interface Cancellable {
  readonly cancel?: (() => unknown) | undefined
}

/** Milliseconds that an interrupted statement may take to end by itself before the server is asked to cancel it. */
const graceBeforeCancel = 1_000

/** Milliseconds that the server may take to cancel it: one that has vanished never answers. */
const graceBeforeCut = 10_000

const settled = (promise: PromiseLike<unknown>): Promise<void> =>
  Promise.resolve(promise).then(
    () => undefined,
    () => undefined,
  )

/** Milliseconds that a statement may take before the server is asked whether it answers at all, and again as often. */
const graceBeforeAsking = 10_000

const cut = (connection: Connection): void => {
  connection.lost = true
  connection.client.end({ timeout: 0 }).catch(() => undefined)
}

/** Gives a connection up if the server does not answer in time. Returns how to stop waiting. */
export const cutWhereSilent = (connection: Connection): (() => void) => {
  const timer = setTimeout(() => cut(connection), graceBeforeCut)
  return () => clearTimeout(timer)
}

/**
 * Gives a connection up whose server has fallen silent: a statement may take an hour, but a server that answers nobody will not
 * answer it either. What cannot be interrupted, such as the end of a transaction, would wait for ever. Returns how to stop
 * watching.
 */
const cutWhereGone = (connection: Connection): (() => void) => {
  let stopped = false
  const ask = async (): Promise<void> => {
    // Asks twice: a busy server may be late once.
    const isThere = (await connection.serverAnswers()) || (await connection.serverAnswers())
    if (stopped) return
    if (isThere) wait()
    else cut(connection)
  }
  let timer: NodeJS.Timeout
  const wait = (): void => {
    timer = setTimeout(() => void ask(), graceBeforeAsking).unref()
  }
  wait()
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}

/**
 * Waits until an interrupted statement ends: only then may its connection run another. A statement that takes long is
 * cancelled, and its connection is not used again, because a late cancel would hit the next statement.
 */
const letEnd = (connection: Connection, running: PromiseLike<unknown> & Cancellable): Effect.Effect<void> =>
  Effect.promise(async () => {
    // Waits for the server by the real clock, in tests as well.
    const timer = setTimeout(async () => {
      connection.spoilt = true
      await Promise.resolve(running.cancel?.()).catch(() => undefined)
    }, graceBeforeCancel)
    const stop = cutWhereSilent(connection)
    await settled(running)
    clearTimeout(timer)
    stop()
  })

/** Runs one statement on a connection that has not lost its session. */
export const runStatement = <A>(
  connection: Connection,
  operation: string,
  statement: () => PromiseLike<A> & Cancellable,
): Effect.Effect<A, DatabaseError> =>
  Effect.async<A, DatabaseError>((resume) => {
    if (connection.lost) return resume(Effect.fail(lostConnection(operation)))
    const failed = (error: unknown) => {
      const mapped = toDatabaseError(operation, error)
      // Set before the caller sees the error: a handler must not send another statement to a lost session.
      if (mapped.reason === "Unreachable") connection.lost = true
      if (mapped.sqlstate === onlyReads) connection.onlyReads = true
      if (mapped.sqlstate !== inFailed) connection.failedBy = mapped
      resume(Effect.fail(connection.failedBy ?? mapped))
    }
    statements.publish(operation)
    try {
      const running = statement()
      const stopWatching = cutWhereGone(connection)
      running.then(
        (value) => {
          stopWatching()
          resume(Effect.succeed(value))
        },
        (error: unknown) => {
          stopWatching()
          failed(error)
        },
      )
      return letEnd(connection, running)
    } catch (error) {
      return failed(error)
    }
  })

/** The session ended while something still needed it. */
export const lostConnection = (operation: string): DatabaseError =>
  databaseError("Unreachable", operation, "the connection to the database was lost")
