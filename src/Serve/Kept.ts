/** Answers that are repeated for a while: the database is asked once in that time, however many requests come and however long it takes. */
import { Deferred, Duration, Effect, type Exit, FiberId, type Scope } from "effect"
import { steadyMillis } from "../Common/Time.ts"

/**
 * An effect that runs at most once at a time, independently of any request, and whose answer is kept for so long. One that took longer
 * than that is kept from when it came: it would have expired before, and each request would ask the database anew.
 */
export const keptFor = <A, E, R>(
  time: Duration.DurationInput,
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<Effect.Effect<A, E, R>, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const keep = Duration.toMillis(time)
    let last: { readonly until: number; readonly exit: Exit.Exit<A, E> } | undefined
    let flight: Deferred.Deferred<A, E> | undefined
    const launch = (mine: Deferred.Deferred<A, E>, at: number) => {
      flight = mine
      const landed = Effect.onExit(effect, (exit) =>
        Effect.map(steadyMillis, (now) => {
          last = { until: (now - at > keep ? now : at) + keep, exit }
          flight = undefined
        }),
      )
      // The caller may not be interruptible, so the effect's own time limit interrupts it.
      const running = Effect.intoDeferred(landed, mine)
      return Effect.forkIn(Effect.interruptible(running), scope)
    }
    return Effect.flatMap(steadyMillis, (now) => {
      if (last !== undefined && now < last.until) return last.exit
      if (flight !== undefined) return Deferred.await(flight)
      const mine = Deferred.unsafeMake<A, E>(FiberId.none)
      return Effect.zipRight(launch(mine, now), Deferred.await(mine))
    })
  })
