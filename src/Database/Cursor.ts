import { Chunk, Effect, Option, type Scope, Stream } from "effect"
import type postgres from "postgres"
import { type Answer, assertColumns, assertRows } from "./AnswerRows.ts"
import type { Columns, RowOf } from "./Columns.ts"
import type { Connection } from "./ConnectionPool.ts"
import { type DatabaseError, toDatabaseError } from "./DatabaseError.ts"
import { cutWhereGone, letEnd, lostConnection, statements } from "./RunStatement.ts"

type Pull<A> = Effect.Effect<Chunk.Chunk<A>, Option.Option<DatabaseError>>

/**
 * Reads a query's rows `size` at a time, and more only on demand. The driver's own async iterator blocks the connection when
 * it is abandoned while it waits for rows; this one always ends the query.
 */
const openCursor = <C extends Columns>(
  connection: Connection,
  operation: string,
  columns: C,
  query: postgres.PendingQuery<postgres.Row[]>,
  size: number,
): Effect.Effect<Pull<RowOf<C>>, never, Scope.Scope> => {
  let wanted: ((result: Pull<RowOf<C>>) => void) | undefined
  let proceed: ((close: unknown) => void) | undefined
  let ended: Pull<RowOf<C>> | undefined
  let running: Promise<unknown> | undefined
  let closing = false

  const checked = (rows: Answer): Pull<RowOf<C>> =>
    Effect.sync(() => {
      assertRows(operation, columns, rows)
      return Chunk.unsafeFromArray(rows)
    })
  // The query has no rows, but its columns are known.
  const noMore = (described: Answer["columns"]): Pull<RowOf<C>> =>
    Effect.suspend(() => {
      assertColumns(operation, columns, described)
      return Effect.fail(Option.none())
    })
  const onRows = (rows: Answer): unknown => {
    const deliver = wanted
    wanted = undefined
    if (closing || deliver === undefined) return connection.client.CLOSE
    deliver(checked(rows))
    return new Promise((resolve) => {
      proceed = resolve
    })
  }
  const end = (result: Pull<RowOf<C>>) => {
    ended = result
    wanted?.(result)
    wanted = undefined
  }
  const start = () => {
    if (connection.lost) return end(Effect.fail(Option.some(lostConnection(operation))))
    statements.publish(operation)
    const stopWatching = cutWhereGone(connection)
    running = query.cursor(size, onRows).then(
      (result) => {
        stopWatching()
        end(noMore(result.columns))
      },
      (error: unknown) => {
        stopWatching()
        const mapped = toDatabaseError(operation, error)
        if (mapped.reason === "Unreachable") connection.lost = true
        end(Effect.fail(Option.some(mapped)))
      },
    )
  }
  const pull: Pull<RowOf<C>> = Effect.async((resume) => {
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
export const cursorStream = <C extends Columns>(
  connection: Effect.Effect<Connection, DatabaseError, Scope.Scope>,
  operation: string,
  columns: C,
  query: (connection: Connection) => postgres.PendingQuery<postgres.Row[]>,
  size: number,
): Stream.Stream<RowOf<C>, DatabaseError> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      const lent = yield* connection
      const pull = yield* openCursor(lent, operation, columns, query(lent), size)
      return Stream.repeatEffectChunkOption(pull)
    }),
  )
