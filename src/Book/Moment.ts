/** The locks of a connection, and having it for a moment beside those who have it for long. */
import { Effect, Schedule } from "effect"
import { firstOf } from "../Common/FirstOf.ts"
import { LockBusy } from "../Database/SessionLock.ts"
import type { Database } from "../Database.ts"

/** The lock of a connection as a whole. */
export const lockOf = (connection: string): string => `sync:${connection}`

/**
 * A lock beside the connection's, held by those who need the connection only briefly, so that others know that waiting pays.
 */
export const momentOf = (connection: string): string => `moment:${connection}`

/** A backfill holds the connection for moments again and again, each as long as it reads a statement. */
const shortPatience = Schedule.spaced("100 millis").pipe(Schedule.intersect(Schedule.recurUpTo("5 seconds")))

/**
 * Runs an effect that takes a moment, unless something else of the connection runs for longer: then it fails with `LockBusy` soon. A
 * process that wants the connection meanwhile waits, as for `forAMoment`.
 */
export const unlessBusy = <A, E, R>(database: Database, connection: string, effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(
    Effect.flatMap(
      Effect.zipRight(database.tryLock(momentOf(connection)), database.tryLock(lockOf(connection))),
      ({ lost }) => firstOf(effect, lost),
    ),
  ).pipe(
    Effect.retry({
      schedule: shortPatience,
      while: (error) => error instanceof LockBusy && error.lock === momentOf(connection),
    }),
  )
