/** One attempt at a transaction, and a savepoint within one: how each begins, and how each ends once the body has ended. */
import { Effect, Exit, type FiberRef, Option } from "effect"
import type { Connections } from "./ConnectionPool.ts"
import { DatabaseError } from "./DatabaseError.ts"
import { everyPermit, makeLevel, type TransactionLevel, usable } from "./TransactionLevel.ts"
import { commit, execute, type GuardedOptions, open, undo } from "./TransactionStatements.ts"

/** The level of the transaction that a fiber is in. */
export type CurrentLevel = FiberRef.FiberRef<Option.Option<TransactionLevel>>

/** How one attempt at a transaction ended, and whether a retry may help. */
interface Attempt<A, E> {
  readonly exit: Exit.Exit<A, E | DatabaseError>
  readonly next: "end" | "retry" | "reconnect"
}

const ending = <A, E>(exit: Exit.Exit<A, E | DatabaseError>, next: Attempt<A, E>["next"]): Attempt<A, E> => ({
  exit,
  next,
})

const close = (level: TransactionLevel) =>
  level.gate.withPermits(everyPermit)(
    Effect.sync(() => {
      level.ended = true
    }),
  )

/** One attempt at a whole transaction. */
export const attempt = <A, E, R, G>(
  connections: Connections,
  current: CurrentLevel,
  body: Effect.Effect<A, E, R>,
  options: GuardedOptions<G>,
): Effect.Effect<Attempt<A, E | G>, never, R> =>
  connections.use((connection) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const begun = yield* Effect.exit(open(connection, options))
        // Nothing has run yet: a session that went stale while idle can be replaced.
        if (Exit.isFailure(begun)) return ending<A, E | G>(Exit.failCause(begun.cause), "reconnect")
        const level = makeLevel(connection, { conflict: false, savepoints: 0 })
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
    ),
  )

/** A savepoint within a transaction: rolled back alone where the body fails. */
export const nested = <A, E, R>(
  current: CurrentLevel,
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
