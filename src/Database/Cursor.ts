import { Chunk, Effect, Option, type Scope, Stream } from "effect"
import type postgres from "postgres"
import type { Connection } from "./Connections.ts"
import { type DatabaseError, toDatabaseError } from "./DatabaseError.ts"
import { letEnd, lostConnection } from "./Statement.ts"

type Pull<Row> = Effect.Effect<Chunk.Chunk<Row>, Option.Option<DatabaseError>>

/**
 * Reads a query's rows `size` at a time, asking for more only when they are wanted. The driver's own async iterator
 * leaves the connection hanging when it is abandoned while it waits for rows; this one always ends the query.
 */
const openCursor = <Row extends object>(
  connection: Connection,
  operation: string,
  query: postgres.PendingQuery<Row[]>,
  size: number,
): Effect.Effect<Pull<Row>, never, Scope.Scope> => {
  let wanted: ((result: Pull<Row>) => void) | undefined
  let proceed: ((close: unknown) => void) | undefined
  let ended: Pull<Row> | undefined
  let running: Promise<unknown> | undefined
  let closing = false

  const onRows = (rows: ReadonlyArray<Row>): unknown => {
    const deliver = wanted
    wanted = undefined
    if (closing || deliver === undefined) return connection.client.CLOSE
    deliver(Effect.succeed(Chunk.unsafeFromArray(rows)))
    return new Promise((resolve) => {
      proceed = resolve
    })
  }
  const end = (result: Pull<Row>) => {
    ended = result
    wanted?.(result)
    wanted = undefined
  }
  const start = () => {
    if (connection.lost) return end(Effect.fail(Option.some(lostConnection(operation))))
    running = query.cursor(size, onRows).then(
      () => end(Effect.fail(Option.none())),
      (error: unknown) => {
        const mapped = toDatabaseError(operation, error)
        if (mapped.reason === "Unreachable") connection.lost = true
        end(Effect.fail(Option.some(mapped)))
      },
    )
  }
  const pull: Pull<Row> = Effect.async((resume) => {
    if (ended !== undefined) return resume(ended)
    wanted = resume
    if (running === undefined) start()
    else proceed?.(undefined)
  })
  const finish = Effect.suspend(() => {
    closing = true
    proceed?.(connection.client.CLOSE)
    if (running === undefined || ended !== undefined) return Effect.void
    const cancel = () => query.cancel()
    return letEnd(connection, Object.assign(running, { cancel }))
  })
  return Effect.as(
    Effect.addFinalizer(() => finish),
    pull,
  )
}

/** The rows of a query as a stream with flat memory. */
export const cursorStream = <Row extends object>(
  connection: Effect.Effect<Connection, never, Scope.Scope>,
  operation: string,
  query: (connection: Connection) => postgres.PendingQuery<Row[]>,
  size: number,
): Stream.Stream<Row, DatabaseError> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      const lent = yield* connection
      const pull = yield* openCursor(lent, operation, query(lent), size)
      return Stream.repeatEffectChunkOption(pull)
    }),
  )
