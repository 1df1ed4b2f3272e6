/** Being alone on a connection: for a run, or for a moment. */
import { Effect, Schedule } from "effect"
import { LockBusy } from "../Database/SessionLock.ts"
import type { Database } from "../Database.ts"

const lockOf = (connection: string): string => `sync:${connection}`

/** Held by whoever holds the connection only for a moment, so that others know that it is worth waiting. */
const momentOf = (connection: string): string => `moment:${connection}`

const askAgain = "250 millis"
const patience = Schedule.spaced("200 millis").pipe(Schedule.intersect(Schedule.recurUpTo("10 minutes")))

/**
 * Runs an effect while nothing else of the connection runs. Waits for a backfill or for events, which hold it for moments;
 * fails with `LockBusy` where a sync or a replay does, which may be long.
 */
export const holding = <A, E, R>(database: Database, connection: string, effect: Effect.Effect<A, E, R>) => {
  const isForAMoment = Effect.scoped(database.tryLock(momentOf(connection))).pipe(
    Effect.as(false),
    Effect.catchTag("LockBusy", () => Effect.succeed(true)),
  )
  return database.withSessionLock(lockOf(connection), effect).pipe(
    Effect.retry({
      schedule: patience,
      while: (error) => (error instanceof LockBusy ? isForAMoment : Effect.succeed(false)),
    }),
    // Who held it may have gone between the two questions.
    Effect.retry({ times: 1, while: (error) => error instanceof LockBusy }),
  )
}

/** Runs an effect that takes a moment, as soon as nothing else of the connection runs, however long that is. */
export const forAMoment = <A, E, R>(database: Database, connection: string, effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const lock = yield* database.tryLock(lockOf(connection)).pipe(
        Effect.tapErrorTag("LockBusy", () => Effect.sleep(askAgain)),
        Effect.retry({ while: (error) => error._tag === "LockBusy" }),
        Effect.catchTag("LockBusy", () => Effect.dieMessage("it is asked for until it is free")),
      )
      // Somebody who waits may be looking at it at this very moment.
      yield* database.tryLock(momentOf(connection)).pipe(
        Effect.tapErrorTag("LockBusy", () => Effect.sleep("20 millis")),
        Effect.retry({ while: (error) => error._tag === "LockBusy" }),
        Effect.catchTag("LockBusy", () => Effect.dieMessage("it is asked for until it is free")),
      )
      return yield* Effect.raceFirst(effect, lock.lost)
    }),
  )
