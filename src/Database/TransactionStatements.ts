/** The statements that begin and end a transaction. */
import { Effect } from "effect"
import type { PendingQuery, Row, RowList } from "postgres"
import type { Sql } from "./Client.ts"
import type { Connection } from "./ConnectionPool.ts"
import { type DatabaseError, databaseError } from "./DatabaseError.ts"
import { cutWhereSilent, runStatement } from "./RunStatement.ts"

export interface TransactionOptions {
  /** `read committed` when not given. */
  readonly isolation?: "read committed" | "repeatable read" | "serializable" | undefined
  readonly readOnly?: boolean | undefined
  /** How long the server waits for its next statement. Default: `deadAfter`, and for a snapshot, which files are written from, 15 min. */
  readonly idle?: string | undefined
}

/** The first statement of a transaction, sent together with `begin`: its rows decide whether the rest runs. */
export interface Guard<E> {
  readonly operation: string
  readonly statement: (sql: Sql) => PendingQuery<Row[]>
  /** Fails where the rest must not run. */
  readonly passes: (found: RowList<Row[]>) => Effect.Effect<void, E>
}

export interface GuardedOptions<E> extends TransactionOptions {
  readonly guard?: Guard<E> | undefined
}

const begin = ({ locals }: Connection, { idle, isolation, readOnly }: TransactionOptions): string => {
  const patience = idle ?? (isolation === undefined ? undefined : "15min")
  const waits =
    patience === undefined ? "" : `; set local idle_in_transaction_session_timeout = '${patience}'`
  return `begin isolation level ${isolation ?? "read committed"}${readOnly === true ? " read only" : ""}${locals}${waits}`
}

export const execute = (connection: Connection, operation: string, text: string) =>
  runStatement(connection, operation, () => connection.client.unsafe(text))

/** A transaction that has begun; the guard's statement is under way. */
interface Begun<E> {
  readonly guarded: Effect.Effect<void, E | DatabaseError>
}

/** Sends `begin` and the guard's statement in one round trip. */
export const open = <E>(
  connection: Connection,
  { guard, ...options }: GuardedOptions<E>,
): Effect.Effect<Begun<E>, DatabaseError> => {
  if (guard === undefined)
    return Effect.as(execute(connection, "Database.transaction", begin(connection, options)), {
      guarded: Effect.void,
    })
  const { operation, passes, statement } = guard
  return Effect.suspend(() => {
    const asked = statement(connection.client)
    // Where `begin` fails, the guard's result is ignored.
    const send = () => asked.execute().catch(() => undefined)
    const beginning = runStatement(connection, "Database.transaction", () => {
      const begun = connection.client.unsafe(begin(connection, options)).execute()
      send()
      return begun
    })
    const answered = Effect.flatMap(
      runStatement(connection, operation, () => asked),
      passes,
    )
    return Effect.as(beginning, { guarded: answered })
  })
}

export const commit = (connection: Connection): Effect.Effect<void, DatabaseError> =>
  execute(connection, "Database.transaction", "commit").pipe(
    Effect.mapError((error) =>
      error.reason === "Unreachable"
        ? databaseError(
            "Unreachable",
            "Database.transaction",
            "the connection was lost while committing, so it is not known whether the transaction was kept",
          )
        : error,
    ),
    // After a failed statement the server answers COMMIT with ROLLBACK, without an error.
    Effect.filterOrFail(
      (result) => result.command === "COMMIT",
      () =>
        databaseError(
          "Other",
          "Database.transaction",
          "a statement had failed, so the transaction was rolled back (use a nested transaction around what may fail)",
        ),
    ),
    Effect.asVoid,
  )

/** Rolls back; on a lost session the server has done so already. */
export const undo = (connection: Connection, text: string): Effect.Effect<void> =>
  connection.lost
    ? Effect.void
    : Effect.acquireUseRelease(
        Effect.sync(() => cutWhereSilent(connection)),
        () => execute(connection, "Database.transaction", text),
        (stop) => Effect.sync(stop),
      ).pipe(
        Effect.catchAll(() =>
          Effect.sync(() => {
            connection.spoilt = true
          }),
        ),
        Effect.asVoid,
      )
