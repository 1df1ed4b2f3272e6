/** Workers that read clients' books for a sync: the connector's own, each job given to them as pg-boss would. */
import { Effect, Layer, Option } from "effect"
import { Database } from "../../../src/Database.ts"
import { bookJobs } from "../../../src/Jobs/BookJob.ts"
import { readBy } from "../../../src/Jobs/Leading.ts"
import { BookSync } from "../../../src/Sync/BookSync.ts"
import { BookJobs } from "../../../src/Sync/Runs/BookJobs.ts"
import type { Site } from "../Site.ts"

/** A job that fails is tried again, and then given up. */
const again = { times: 3 }

export const withWorkers =
  (site: Site, count: number) =>
  <A, E, R>(sync: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const database = yield* Database
      const scope = yield* Effect.scope
      const workers = yield* Effect.all(Array.from({ length: count }, () => bookJobs))
      const send = (connection: string, books: ReadonlyArray<number>) =>
        Effect.forEach(
          workers,
          (jobs, place) =>
            Effect.forEach(
              books.filter((_, index) => index % count === place),
              (bookId) => {
                const job = { connection, bookId }
                return Effect.retry(jobs.read(job), again).pipe(
                  Effect.catchAll((error) => jobs.giveUp(job, { tries: 6, why: error.message })),
                  Effect.ignore,
                )
              },
            ),
          { concurrency: "unbounded", discard: true },
        ).pipe(Effect.provideService(Database, database), Effect.forkIn(scope), Effect.asVoid)
      const read = readBy(database, { send, idle: (_, books) => Effect.succeed(books) })
      return yield* Effect.provideService(sync, BookJobs, Option.some(read))
    }).pipe(Effect.scoped, Effect.provide(Layer.provide(BookSync.DefaultWithoutDependencies, site.services)))
