import { Effect, Exit, FiberRef, Option, Scope } from "effect"
import type { Connection, Connections } from "./Connections.ts"
import { DatabaseError } from "./DatabaseError.ts"
import { runStatement } from "./Statement.ts"
import { everyPermit, makeLevel, type TransactionLevel, usable } from "./TransactionLevel.ts"
import { commit, execute, type GuardedOptions, open, undo } from "./TransactionStatements.ts"

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

/** How one attempt at a transaction ended, and whether a retry may help. */
interface Attempt<A, E> {
  readonly exit: Exit.Exit<A, E | DatabaseError>
  readonly next: "end" | "retry" | "reconnect"
}

const ending = <A, E>(exit: Exit.Exit<A, E | DatabaseError>, next: Attempt<A, E>["next"]): Attempt<A, E> => ({
  exit,
  next,
})

/**
 * Transactions of one database; a FiberRef holds the current one. Where the connections are a pooler's, what runs outside any
 * transaction is one of its own, for the settings that a session would keep.
 */
export const makeTransactions = (connections: Connections, pooled: boolean) => {
  const current = FiberRef.unsafeMake<Option.Option<TransactionLevel>>(Option.none())

  const close = (level: TransactionLevel) =>
    level.gate.withPermits(everyPermit)(
      Effect.sync(() => {
        level.ended = true
      }),
    )

  /** Lends a connection in a scope of its own: the caller's scope belongs to the body, and outlives the transaction. */
  const withConnection = <A, E, R>(
    use: (
      connection: Connection,
      restore: <B, F, S>(effect: Effect.Effect<B, F, S>) => Effect.Effect<B, F, S>,
    ) => Effect.Effect<A, E, R>,
  ) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.acquireUseRelease(
        Scope.make(),
        (own) =>
          Effect.flatMap(restore(Scope.extend(connections.take, own)), (connection) =>
            use(connection, restore),
          ),
        (own, exit) => Scope.close(own, exit),
      ),
    )

  const attempt = <A, E, R, G>(
    body: Effect.Effect<A, E, R>,
    options: GuardedOptions<G>,
  ): Effect.Effect<Attempt<A, E | G>, never, R> =>
    withConnection((connection, restore) =>
      Effect.gen(function* () {
        const begun = yield* Effect.exit(open(connection, options))
        // Nothing has run yet: a session that went stale while idle can be replaced.
        if (Exit.isFailure(begun)) return ending<A, E | G>(Exit.failCause(begun.cause), "reconnect")
        const level = makeLevel(connection, { conflict: false, savepoints: 0, streaming: false })
        const within = Effect.locally(body, current, Option.some(level))
        const guarded = Effect.tapError(begun.value.guarded, (error) =>
          Effect.sync(() => {
            if (error instanceof DatabaseError && error.reason === "Conflict") level.state.conflict = true
          }),
        )
        const outcome = yield* Effect.exit(restore(Effect.zipRight(guarded, within)))
        yield* close(level)
        if (Exit.isFailure(outcome)) {
          yield* undo(connection, "rollback")
          return ending<A, E | G>(outcome, level.state.conflict ? "retry" : "end")
        }
        const committed = yield* Effect.exit(commit(connection))
        if (Exit.isSuccess(committed)) return ending<A, E | G>(outcome, "end")
        yield* undo(connection, "rollback")
        const conflict = Exit.match(committed, {
          onSuccess: () => false,
          onFailure: (cause) => cause._tag === "Fail" && cause.error.reason === "Conflict",
        })
        return ending<A, E | G>(Exit.failCause(committed.cause), conflict ? "retry" : "end")
      }),
    )

  const outermost = <A, E, R, G>(
    body: Effect.Effect<A, E, R>,
    options: GuardedOptions<G>,
  ): Effect.Effect<A, E | G | DatabaseError, R> =>
    Effect.gen(function* () {
      for (let tries = 0; ; tries++) {
        const { exit, next } = yield* attempt(body, options)
        if (Exit.isSuccess(exit)) return exit.value
        const most = next === "end" ? 0 : next === "retry" ? retries : reconnects
        if (tries >= most || Exit.isInterrupted(exit)) return yield* exit
        yield* pause(tries)
      }
    })

  const nested = <A, E, R>(
    body: Effect.Effect<A, E, R>,
    parent: TransactionLevel,
  ): Effect.Effect<A, E | DatabaseError, R> => {
    const { connection, state } = parent
    const run = Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        state.savepoints += 1
        const name = `nested_${state.savepoints}`
        const back = `rollback to savepoint ${name}; release savepoint ${name}`
        yield* execute(connection, "Database.transaction", `savepoint ${name}`)
        const level = makeLevel(connection, state)
        const exit = yield* Effect.exit(restore(Effect.locally(body, current, Option.some(level))))
        yield* close(level)
        if (Exit.isFailure(exit)) yield* undo(connection, back)
        else {
          yield* execute(connection, "Database.transaction", `release savepoint ${name}`).pipe(
            Effect.tapError(() => undo(connection, back)),
          )
        }
        return yield* exit
      }),
    )
    return Effect.zipRight(usable(parent), parent.gate.withPermits(everyPermit)(run))
  }

  /** Runs an effect in a transaction; see `Database.transaction`. */
  const transaction = <A, E, R, G = never>(
    body: Effect.Effect<A, E, R>,
    options: GuardedOptions<G> = {},
  ): Effect.Effect<A, E | G | DatabaseError, R> =>
    Effect.flatMap(FiberRef.get(current), (found): Effect.Effect<A, E | G | DatabaseError, R> => {
      if (Option.isNone(found)) return outermost(body, options)
      const { guard } = options
      if (guard === undefined) return nested(body, found.value)
      // The outer transaction has begun already: here the guard is an ordinary statement.
      const { operation, passes, statement } = guard
      const guarded = onConnection((lent) =>
        runStatement(lent, operation, () => statement(lent.client)),
      ).pipe(Effect.tapError(noteConflict), Effect.flatMap(passes))
      return nested(Effect.zipRight(guarded, body), found.value)
    })

  /** Begins a transaction that the scope's end rolls back, for what only reads. */
  const begun = (lent: Connection) =>
    Effect.acquireRelease(
      Effect.flatMap(open(lent, {}), () => Effect.succeed(lent)),
      () => undo(lent, "rollback"),
    )

  /** The connection for statements: the current transaction's, or one from the pool for the scope's lifetime. */
  const connection: Effect.Effect<Connection, DatabaseError, Scope.Scope> = Effect.flatMap(
    FiberRef.get(current),
    Option.match({
      onNone: () => (pooled ? Effect.flatMap(connections.take, begun) : connections.take),
      onSome: (level) =>
        usable(level).pipe(
          Effect.zipRight(
            Effect.uninterruptibleMask((restore) =>
              restore(level.gate.take(1)).pipe(
                Effect.zipRight(Effect.addFinalizer(() => level.gate.release(1))),
              ),
            ),
          ),
          Effect.as(level.connection),
        ),
    }),
  )

  /** Runs one statement on that connection. */
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

  /** Marks the current transaction as busy with a cursor for as long as the scope lives. */
  const streaming: Effect.Effect<void, never, Scope.Scope> = Effect.flatMap(FiberRef.get(current), (level) =>
    Option.isNone(level)
      ? Effect.void
      : Effect.acquireRelease(
          Effect.sync(() => {
            level.value.state.streaming = true
          }),
          () =>
            Effect.sync(() => {
              level.value.state.streaming = false
            }),
        ),
  )

  return { transaction, connection, onConnection, noteConflict, streaming }
}
