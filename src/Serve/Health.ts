/** Whether the process can do its work: the database answers and has this version's tables. */
import { Clock, Deferred, Effect, FiberId, type Scope } from "effect"
import { counted } from "../Common/Text.ts"
import { pendingMigrations } from "../Database/Migrate.ts"

const within = "5 seconds"

/** Why the process is not ready; undefined if it is. Never names the database, since anybody may ask. */
export const unreadyReason = Effect.fn("Serve.unreadyReason")(
  function* () {
    const pending = yield* pendingMigrations()
    return pending.length === 0
      ? undefined
      : `the database lacks ${counted(pending.length, "migration")}: run tieout migrate`
  },
  // A statement must end before it can be interrupted, and under a silent server none ends for a while.
  Effect.disconnect,
  Effect.timeoutTo({
    duration: within,
    onTimeout: () => `the database does not answer within ${within}`,
    onSuccess: (reason: string | undefined) => reason,
  }),
  Effect.catchAll((error) =>
    Effect.as(
      Effect.logWarning(`Not ready: ${error.message}`),
      error.reason === "Settings"
        ? "the database does not fit these settings or this version: see the log"
        : "the database cannot be reached: see the log",
    ),
  ),
)

/** For how many milliseconds an answer is repeated: the database is asked once in that time, however many requests come. */
const believedFor = 5_000

/** A probe that runs at most once at a time, independently of any request, and whose answer is kept for a while. */
export const keptProbe = <A, R>(
  probe: Effect.Effect<A, never, R>,
): Effect.Effect<Effect.Effect<A, never, R>, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    let last: { readonly at: number; readonly answer: A } | undefined
    let flight: Deferred.Deferred<A> | undefined
    const launch = (mine: Deferred.Deferred<A>, at: number) => {
      flight = mine
      const kept = Effect.tap(probe, (answer) =>
        Effect.sync(() => {
          last = { at, answer }
        }),
      )
      const landed = Effect.sync(() => {
        flight = undefined
      })
      // The caller may not be interruptible, so the probe's own time limit interrupts it.
      const probing = Effect.intoDeferred(Effect.ensuring(kept, landed), mine)
      return Effect.forkIn(Effect.interruptible(probing), scope)
    }
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      if (last !== undefined && now - last.at < believedFor) return Effect.succeed(last.answer)
      if (flight !== undefined) return Deferred.await(flight)
      const mine = Deferred.unsafeMake<A>(FiberId.none)
      return Effect.zipRight(launch(mine, now), Deferred.await(mine))
    })
  })
