/** Being alone on a connection. */
import { Effect, Schedule } from "effect"
import { LockBusy } from "../Database/SessionLock.ts"
import type { Database } from "../Database.ts"

/** A backfill holds the connection only for moments: who comes waits for it. Another sync would be long. */
const patience = Schedule.spaced("200 millis").pipe(Schedule.intersect(Schedule.recurUpTo("10 minutes")))

/** Runs an effect while nothing else of the connection runs. Fails with `LockBusy` where a sync or a replay does. */
export const holding = <A, E, R>(database: Database, connection: string, effect: Effect.Effect<A, E, R>) => {
  const backfillRuns = Effect.scoped(database.tryLock(`backfill:${connection}`)).pipe(
    Effect.as(false),
    Effect.catchTag("LockBusy", () => Effect.succeed(true)),
  )
  return database.withSessionLock(`sync:${connection}`, effect).pipe(
    Effect.retry({
      schedule: patience,
      while: (error) => (error instanceof LockBusy ? backfillRuns : Effect.succeed(false)),
    }),
  )
}
