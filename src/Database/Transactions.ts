import { Cause, Effect, Exit, FiberRef, Option, type Scope } from "effect"
import type { Connection, Connections } from "./ConnectionPool.ts"
import type { InTransaction } from "./Cursor.ts"
import type { DatabaseError } from "./DatabaseError.ts"
import { runStatement } from "./RunStatement.ts"
import { attempt, type CurrentLevel, nested } from "./TransactionAttempt.ts"
import { usable } from "./TransactionLevel.ts"
import { type GuardedOptions, open, undo } from "./TransactionStatements.ts"

/** How often a transaction is retried after a serialization failure or deadlock. */
const retries = 5

/** How often a transaction that could not begin is tried on another connection. */
const reconnects = 2

/** Jitter keeps two conflicting transactions from conflicting again. Uses the real clock, as the server does. */
const pause = (tries: number) =>
  Effect.async<void>((resume) => {
    const timer = setTimeout(() => resume(Effect.void), 10 * 2 ** tries * (0.5 + Math.random()))
    return Effect.sync(() => clearTimeout(timer))
  })

/**
 * Transactions of one database; a FiberRef holds the current one. Behind a pooler, each statement outside a transaction runs in
 * one of its own, to have the settings that a session would keep.
 */
export const makeTransactions = (connections: Connections, pooled: boolean) => {
  const current: CurrentLevel = FiberRef.unsafeMake(Option.none())

  const outermost = <A, E, R, G>(
    body: Effect.Effect<A, E, R>,
    options: GuardedOptions<G>,
  ): Effect.Effect<A, E | G | DatabaseError, R> =>
    Effect.gen(function* () {
      for (let tries = 0; ; tries++) {
        const { exit, next } = yield* attempt(connections, current, body, options)
        if (Exit.isSuccess(exit)) return exit.value
        // What ran beside the statement that failed was interrupted, which is no reason to end.
        const most = next === "end" ? 0 : next === "retry" ? retries : reconnects
        if (tries >= most || Cause.isInterruptedOnly(exit.cause)) return yield* exit
        yield* pause(tries)
      }
    })

  /** Runs an effect in a transaction; see `Database.transaction`. */
  const transaction = <A, E, R, G = never>(
    body: Effect.Effect<A, E, R>,
    options: GuardedOptions<G> = {},
  ): Effect.Effect<A, E | G | DatabaseError, R> =>
    Effect.flatMap(FiberRef.get(current), (found): Effect.Effect<A, E | G | DatabaseError, R> => {
      if (Option.isNone(found)) return outermost(body, options)
      const { guard } = options
      if (guard === undefined) return nested(current, body, found.value)
      // The outer transaction has begun already: here the guard is an ordinary statement.
      const { operation, passes, statement } = guard
      const guarded = onConnection((lent) =>
        runStatement(lent, operation, () => statement(lent.client)),
      ).pipe(Effect.tapError(noteConflict), Effect.flatMap(passes))
      return nested(current, Effect.zipRight(guarded, body), found.value)
    })

  /** Runs one statement on the current transaction's connection, or on one from the pool. */
  const onConnection = <A, E, R>(
    statement: (lent: Connection) => Effect.Effect<A, E, R>,
  ): Effect.Effect<A, E | DatabaseError, R> =>
    Effect.flatMap(FiberRef.get(current), (found): Effect.Effect<A, E | DatabaseError, R> => {
      if (Option.isNone(found)) {
        return pooled
          ? outermost(
              Effect.suspend(() => onConnection(statement)),
              {},
            )
          : connections.use(statement)
      }
      const level = found.value
      const run = level.gate.withPermits(1)(Effect.suspend(() => statement(level.connection)))
      return Effect.zipRight(usable(level), run)
    })

  /** Marks the current transaction as conflicting, so that it is retried. */
  const noteConflict = (error: DatabaseError) =>
    error.reason !== "Conflict"
      ? Effect.void
      : Effect.map(FiberRef.get(current), (level) => {
          if (Option.isSome(level)) level.value.state.conflict = true
        })

  /** Begins a transaction for reading only; the end of the scope rolls it back. */
  const begun = (lent: Connection) =>
    Effect.acquireRelease(open(lent, { isolation: "repeatable read", readOnly: true }), () =>
      undo(lent, "rollback"),
    )

  /** How a cursor's statements are run: in the current transaction, or in one of their own for as long as the scope lives. */
  const forCursor: Effect.Effect<InTransaction, DatabaseError, Scope.Scope> = Effect.flatMap(
    FiberRef.get(current),
    Option.match({
      onNone: () =>
        Effect.flatMap(connections.take, (lent) =>
          Effect.map(begun(lent), (): InTransaction => (statement) => statement(lent)),
        ),
      onSome: () => Effect.succeed<InTransaction>(onConnection),
    }),
  )

  return { transaction, forCursor, onConnection, noteConflict }
}
