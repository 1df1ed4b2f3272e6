import { Chunk, Effect, Option, type Scope, Stream } from "effect"
import type postgres from "postgres"
import { type Answer, assertRows } from "./AnswerRows.ts"
import type { Sql } from "./Client.ts"
import type { Columns, RowOf } from "./Columns.ts"
import { type Connection, setLocal } from "./ConnectionPool.ts"
import type { DatabaseError } from "./DatabaseError.ts"
import { runStatement } from "./RunStatement.ts"

/** Runs a statement in the transaction that a cursor belongs to. */
export type InTransaction = <A>(
  statement: (lent: Connection) => Effect.Effect<A, DatabaseError>,
) => Effect.Effect<A, DatabaseError>

export interface StreamOptions {
  /** Rows that are fetched at a time. */
  readonly size: number
  /** Settings of the planner, by name, from this query on until the transaction ends. */
  readonly planner: Readonly<Record<string, string>>
}

/** The operation is the cursor's name, so that the server's list of sessions shows whose rows are fetched. */
const nameOf = (operation: string): string => `"${operation.replaceAll('"', '""')}"`

/** All rows are wanted: by itself the server plans a cursor's query for the first tenth of them. */
const allRows = { cursor_tuple_fraction: "1" }

/** Sends the settings and the query together, so that no other statement comes between them. */
const declare = (
  lent: Connection,
  operation: string,
  statement: (sql: Sql) => postgres.PendingQuery<postgres.Row[]>,
  planner: StreamOptions["planner"],
) =>
  runStatement(lent, operation, () => {
    const { client } = lent
    const settings = Object.entries({ ...planner, ...allRows }).map(setLocal)
    const set = client.unsafe(settings.join("; ")).execute()
    const declared = client`
      declare ${client.unsafe(nameOf(operation))} no scroll cursor for ${statement(client)}`.execute()
    return Object.assign(Promise.all([set, declared]), { cancel: () => declared.cancel() })
  })

const command = (lent: Connection, operation: string, text: string) =>
  runStatement<Answer>(lent, operation, () => lent.client.unsafe(`${text} ${nameOf(operation)}`))

/**
 * The rows of a query as a stream with flat memory, by a cursor of the server. Between two fetches the transaction is free for
 * other statements, and for other cursors.
 */
export const cursorStream = <C extends Columns>(
  transaction: Effect.Effect<InTransaction, DatabaseError, Scope.Scope>,
  operation: string,
  columns: C,
  statement: (sql: Sql) => postgres.PendingQuery<postgres.Row[]>,
  { planner, size }: StreamOptions,
): Stream.Stream<RowOf<C>, DatabaseError> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      const run = yield* transaction
      // It may wait for a table that is being changed, and can be interrupted.
      yield* run((lent) => declare(lent, operation, statement, planner))
      yield* Effect.addFinalizer(() =>
        // A transaction that has failed or is lost has closed it.
        Effect.catchAllCause(
          run((lent) => command(lent, operation, "close")),
          () => Effect.void,
        ),
      )
      let ended = false
      const fetch = Effect.suspend(() =>
        ended
          ? Effect.fail(Option.none())
          : Effect.map(
              Effect.mapError(
                run((lent) => command(lent, operation, `fetch ${size} from`)),
                Option.some,
              ),
              (rows) => {
                assertRows(operation, columns, rows)
                ended = rows.length < size
                return Chunk.unsafeFromArray(rows)
              },
            ),
      )
      return Stream.repeatEffectChunkOption(fetch)
    }),
  )
