/** Interrupts operations at a request, or cuts every connection to the database there. */
import { Deferred, Effect, Fiber } from "effect"
import { Database } from "../../../src/Database.ts"
import { aside } from "../../support/aside.ts"
import type { Site } from "../Site.ts"

/** Acts at the request after so many more, and answers whether that request came. */
export const at = <A, E, R>(
  site: Site,
  after: number,
  happens: Effect.Effect<void>,
  operation: Effect.Effect<A, E, R>,
) => {
  let left = after
  return Effect.acquireUseRelease(
    Effect.sync(() => {
      site.hook = Effect.suspend(() => {
        left -= 1
        return left === 0 ? happens : Effect.void
      })
    }),
    () => operation,
    () =>
      Effect.sync(() => {
        site.hook = Effect.void
      }),
  )
}

/** Interrupts as a signal does: the operation gets the time to end its current step. */
export const stopped = <E, R>(site: Site, after: number, operation: Effect.Effect<string, E, R>) =>
  Effect.gen(function* () {
    const halt = yield* Deferred.make<void>()
    const stop = Effect.zipRight(Deferred.succeed(halt, undefined), Effect.never)
    return yield* at(
      site,
      after,
      stop,
      Effect.raceFirst(operation, Effect.as(Deferred.await(halt), "stopped")),
    )
  })

/** Ends every session of this database but the asker's, whatever it is doing, and waits until they have gone. */
const cutAll = aside(
  (sql) => sql`
    select pg_terminate_backend(pid, 10000) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`,
).pipe(Effect.asVoid)

/** More statements at once than a process has sessions for them. */
const moreThanPooled = 20

/** Uses each session that lies idle: those that were cut, unnoticed yet, would fail whoever asks next. */
const notice = Effect.flatMap(Database, (database) =>
  Effect.replicateEffect(
    Effect.ignore(database.execute("Campaign.notice", (sql) => sql`select 1`)),
    moreThanPooled,
    { concurrency: "unbounded", discard: true },
  ),
)

/**
 * The operation may end while sessions are still being cut, since some of its parts see that sooner than others. What comes next begins
 * when all are gone.
 */
export const cut = <E, R>(site: Site, after: number, operation: Effect.Effect<string, E, R>) =>
  Effect.gen(function* () {
    let cutting: Fiber.Fiber<void> | undefined
    const gone = Effect.suspend(() =>
      cutting === undefined ? Effect.void : Effect.asVoid(Fiber.await(cutting)),
    )
    const happens = Effect.flatMap(Effect.forkDaemon(cutAll), (begun) => {
      cutting = begun
      return gone
    })
    const context = yield* Effect.context<Database>()
    return yield* Effect.ensuring(
      at(site, after, Effect.provide(happens, context), operation),
      Effect.provide(Effect.zipRight(gone, notice), context),
    )
  })
