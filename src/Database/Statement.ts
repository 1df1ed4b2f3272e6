import { Effect } from "effect"
import type { Connection } from "./Connections.ts"
import { type DatabaseError, databaseError, toDatabaseError } from "./DatabaseError.ts"

/** What a statement's promise may offer besides its result: postgres.js' queries can be cancelled. */
interface Cancellable {
  readonly cancel?: (() => unknown) | undefined
}

/** Milliseconds that an interrupted statement may take to end by itself before the server is asked to cancel it. */
const graceBeforeCancel = 1_000

const settled = (promise: PromiseLike<unknown>): Promise<void> =>
  Promise.resolve(promise).then(
    () => undefined,
    () => undefined,
  )

/**
 * Lets an interrupted statement end: nothing may follow it on its connection before that. One that takes long is
 * cancelled; its connection is not used again, because a late cancel would hit whatever comes next.
 */
export const letEnd = (
  connection: Connection,
  running: PromiseLike<unknown> & Cancellable,
): Effect.Effect<void> =>
  Effect.promise(async () => {
    // The server is not a part of the program: it is waited for by the real clock, also in tests.
    const timer = setTimeout(async () => {
      connection.spoilt = true
      await Promise.resolve(running.cancel?.()).catch(() => undefined)
    }, graceBeforeCancel)
    await settled(running)
    clearTimeout(timer)
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
      // Before anybody hears of it: a handler must not send another statement to a session that is gone.
      if (mapped.reason === "Unreachable") connection.lost = true
      resume(Effect.fail(mapped))
    }
    try {
      const running = statement()
      running.then((value) => resume(Effect.succeed(value)), failed)
      return letEnd(connection, running)
    } catch (error) {
      return failed(error)
    }
  })

/** The session ended while something still needed it. */
export const lostConnection = (operation: string): DatabaseError =>
  databaseError("Unreachable", operation, "the connection to the database was lost")
