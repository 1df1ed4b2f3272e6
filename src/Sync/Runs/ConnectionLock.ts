/** Being alone on a connection: for a run, or for a moment; or on one of its books, beside others on theirs. */
import { Effect, Option, Scope } from "effect"
import { insisting, isAwaited, lockOf, momentOf, patience, takingTurns } from "../../Book/Moment.ts"
import type { Book } from "../../Book.ts"
import { firstOf } from "../../Common/Effects/FirstOf.ts"
import { LockBusy } from "../../Database/SessionLock.ts"
import type { Database } from "../../Database.ts"

const askAgain = "250 millis"

/** Runs an effect while locks are held that `own` takes; waits for those who hold the connection for moments. */
const patiently = <A, E, R>(
  database: Database,
  connection: string,
  own: ReturnType<Database["tryLocks"]>,
  effect: Effect.Effect<A, E, R>,
) => {
  const taken = Effect.gen(function* () {
    const scope = yield* Effect.scope
    // Tries once more while no other process can have it for a moment: a lock that is still taken then is held for long.
    const again = Effect.scoped(
      Effect.zipRight(database.tryLock(momentOf(connection)), Scope.extend(own, scope)),
    )
    return yield* Effect.catchTag(own, "LockBusy", () => again)
  })
  return insisting(database, connection, patience, (gotIt) =>
    Effect.flatMap(Effect.zipLeft(taken, gotIt), ({ lost }) => firstOf(effect, lost)),
  )
}

/**
 * Runs an effect while nothing else of the connection runs. Waits for a backfill or for events, which hold it for moments;
 * fails with `LockBusy` where a sync or a replay does, which may be long.
 */
export const holding = <A, E, R>(database: Database, connection: string, effect: Effect.Effect<A, E, R>) =>
  patiently(database, connection, database.tryLock(lockOf(connection)), effect)

/**
 * Runs an effect that takes a moment, as soon as nothing else of the connection runs or waits for it, however long that takes. It takes
 * the lock of the moment before the connection's, so that a process that finds the connection taken also finds out why.
 */
export const forAMoment = <A, E, R>(
  database: Database,
  connection: string,
  effect: Effect.Effect<A, E, R>,
) => {
  const both = Effect.zipRight(database.tryLock(momentOf(connection)), database.tryLock(lockOf(connection)))
  return Effect.suspend(() => {
    const { leave, mayHaveIt, queue } = takingTurns(database, connection)
    const attempt = Effect.gen(function* () {
      if (!(yield* mayHaveIt)) return Option.none<A>()
      const lock = yield* Effect.catchTag(Effect.asSome(both), "LockBusy", () => Effect.succeedNone)
      yield* Option.isSome(lock) ? leave : queue
      return yield* Effect.transposeMapOption(lock, ({ lost }) => firstOf(effect, lost))
    })
    return Effect.scoped(attempt).pipe(
      Effect.tap((done) => (Option.isNone(done) ? Effect.sleep(askAgain) : Effect.void)),
      Effect.repeat({ until: Option.isSome }),
      Effect.flatMap((done) =>
        Option.isSome(done)
          ? Effect.succeed(done.value)
          : Effect.dieMessage("it is asked for until it is free"),
      ),
      Effect.ensuring(leave),
    )
  })
}

const bookLockOf = ({ bookId, connection }: Book): string => `${lockOf(connection)}:${bookId}`

const locksOf = (connection: string, books: ReadonlyArray<Book>) => [
  { lock: lockOf(connection), shared: true },
  ...books.map((book) => ({ lock: bookLockOf(book), shared: false })),
]

/**
 * Runs an effect while nobody else works at the books, nor at their connection as a whole; others may work at its other books. Fails
 * with `LockBusy` at once.
 */
export const holdingBooks = <A, E, R>(
  database: Database,
  connection: string,
  books: ReadonlyArray<Book>,
  effect: Effect.Effect<A, E, R>,
) =>
  Effect.scoped(
    Effect.flatMap(database.tryLocks(...locksOf(connection, books)), ({ lost }) => firstOf(effect, lost)),
  )

const refusingIfAwaited = (database: Database, connection: string) =>
  Effect.filterOrFail(
    isAwaited(database, connection),
    (awaited) => !awaited,
    () =>
      new LockBusy({
        lock: momentOf(connection),
        message: `Another process waits for the connection ${connection}.`,
      }),
  )

/**
 * The same for work that takes a moment: a process that wants the whole connection, or wants to lead a run, waits for it
 * instead of failing. While one waits, this fails at once.
 */
export const holdingBooksAMoment = <A, E, R>(
  database: Database,
  connection: string,
  books: ReadonlyArray<Book>,
  effect: Effect.Effect<A, E, R>,
) =>
  Effect.scoped(
    Effect.flatMap(
      Effect.zipRight(
        refusingIfAwaited(database, connection),
        database.tryLocks({ lock: momentOf(connection), shared: true }, ...locksOf(connection, books)),
      ),
      ({ lost }) => firstOf(effect, lost),
    ),
  )

/**
 * Runs an effect that leads others at a connection's books: nobody else has the connection as a whole, nor leads another run. `book`:
 * the one that it works at itself. Waits and fails as `holding` does.
 */
export const leading = <A, E, R>(database: Database, book: Book, effect: Effect.Effect<A, E, R>) =>
  patiently(
    database,
    book.connection,
    database.tryLocks(
      { lock: `leading:${book.connection}`, shared: false },
      { lock: lockOf(book.connection), shared: true },
      { lock: bookLockOf(book), shared: false },
    ),
    effect,
  )
