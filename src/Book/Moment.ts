/** The locks of a connection, and having it for a moment beside those who have it for long. */
import { Effect, Exit, Schedule, Scope } from "effect"
import { firstOf } from "../Common/Effects/FirstOf.ts"
import { LockBusy } from "../Database/SessionLock.ts"
import type { Database } from "../Database.ts"

/** The lock of a connection as a whole. */
export const lockOf = (connection: string): string => `sync:${connection}`

/**
 * A lock beside the connection's, held by those who need the connection only briefly, so that others know that waiting pays.
 */
export const momentOf = (connection: string): string => `moment:${connection}`

/** Held, shared, by those who wait to have the connection for long. */
const awaitedOf = (connection: string): string => `awaited:${connection}`

/** Held by the one who is to have the connection for the next moment. */
export const nextOf = (connection: string): string => `next:${connection}`

/**
 * Whether somebody waits to have the connection for long. Who has it for moments lets that one go first: between two rounds of events it
 * is free for some milliseconds only, which nobody who asks now and then would ever meet while events keep coming.
 */
export const isAwaited = (database: Database, connection: string) =>
  Effect.map(database.heldAmong([awaitedOf(connection)]), (held) => held.size > 0)

/** The same of those who have it for moments: each waits for the one that is next, until it is that itself. */
export const takingTurns = (database: Database, connection: string) => {
  let place: Scope.CloseableScope | undefined
  const leave = Effect.suspend(() => (place === undefined ? Effect.void : Scope.close(place, Exit.void)))
  /** Whether nobody is to have it first. */
  const mayHaveIt = Effect.suspend(() =>
    Effect.map(
      database.heldAmong([awaitedOf(connection), ...(place === undefined ? [nextOf(connection)] : [])]),
      (held) => held.size === 0,
    ),
  )
  /** Somebody has it: this one is next, unless another is. */
  const queue = Effect.suspend(() =>
    place === undefined
      ? Effect.flatMap(Scope.make(), (scope) =>
          Scope.extend(database.announce({ lock: nextOf(connection), shared: false }), scope).pipe(
            Effect.tap(() =>
              Effect.sync(() => {
                place = scope
              }),
            ),
            Effect.tapErrorCause(() => Scope.close(scope, Exit.void)),
            Effect.catchTag("LockBusy", () => Effect.void),
          ),
        ).pipe(Effect.uninterruptible)
      : Effect.void,
  )
  return { leave, mayHaveIt, queue }
}

/**
 * Attempts to get the connection again and again while others have it for moments, who let this one go first. `attempt` is given what it
 * has to do once it has the connection.
 */
export const insisting = <A, E, R, Out>(
  database: Database,
  connection: string,
  schedule: Schedule.Schedule<Out>,
  attempt: (gotIt: Effect.Effect<void>) => Effect.Effect<A, E, R>,
) => {
  const isMomentary = (error: unknown): boolean =>
    error instanceof LockBusy && error.lock === momentOf(connection)
  return Effect.acquireUseRelease(
    Scope.make(),
    (waiting) => {
      const attempted = Effect.scoped(attempt(Scope.close(waiting, Exit.void)))
      const announced = Scope.extend(
        database.announce({ lock: awaitedOf(connection), shared: true }),
        waiting,
      )
      return Effect.catchIf(attempted, isMomentary, () =>
        Effect.zipRight(announced, Effect.retry(attempted, { schedule, while: isMomentary })),
      )
    },
    (waiting) => Scope.close(waiting, Exit.void),
  )
}

/** How long who needs the connection waits for moments of others to end: a backfill holds it for as long as it reads a statement. */
export const patience = Schedule.spaced("200 millis").pipe(
  Schedule.intersect(Schedule.recurUpTo("10 minutes")),
)

/** The same for who can do without it. */
const shortPatience = Schedule.spaced("100 millis").pipe(Schedule.intersect(Schedule.recurUpTo("5 seconds")))

/**
 * Runs an effect that takes a moment, unless something else of the connection runs for longer: then it fails with `LockBusy`. A
 * process that wants the connection meanwhile waits, as for `forAMoment`.
 */
export const unlessBusy = <A, E, R>(
  database: Database,
  connection: string,
  effect: Effect.Effect<A, E, R>,
  schedule: Schedule.Schedule<unknown> = shortPatience,
) =>
  insisting(database, connection, schedule, (gotIt) =>
    Effect.zipRight(database.tryLock(momentOf(connection)), database.tryLock(lockOf(connection))).pipe(
      Effect.zipLeft(gotIt),
      Effect.flatMap(({ lost }) => firstOf(effect, lost)),
    ),
  )
