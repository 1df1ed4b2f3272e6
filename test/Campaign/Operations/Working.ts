/** Workers that read clients' books for a sync: the connector's own code, to which each job is handed as pg-boss would. */
import { Effect, Layer, Option } from "effect"
import { Database } from "../../../src/Database.ts"
import { bookJobs } from "../../../src/Jobs/BookJob.ts"
import { readBy } from "../../../src/Jobs/Leading.ts"
import { BookSync } from "../../../src/Sync/BookSync.ts"
import { BookJobs } from "../../../src/Sync/Runs/BookJobs.ts"
import type { Site } from "../Site.ts"

/** A job that fails is tried once more, and then given up. */
const again = { times: 3 }

export const withWorkers =
  (site: Site, count: number) =>
  <A, E, R>(sync: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const database = yield* Database
      const scope = yield* Effect.scope
      const workers = yield* Effect.all(Array.from({ length: count }, () => bookJobs(2)))
      const send = (connection: string, books: ReadonlyArray<number>) =>
        Effect.forEach(
          workers,
          (jobs, place) => {
            const batch = books
              .filter((_, index) => index % count === place)
              .map((bookId) => ({ connection, bookId }))
            const alone = (job: (typeof batch)[number]) =>
              Effect.flatMap(jobs.read([job]), ([only]) => only ?? Effect.void).pipe(
                Effect.retry(again),
                Effect.catchAll((error) => jobs.giveUp(job, { tries: 6, why: error.message })),
                Effect.ignore,
              )
            return jobs.read(batch).pipe(
              Effect.orElseSucceed(() => []),
              Effect.flatMap((tried) =>
                Effect.forEach(
                  batch.filter((_, at) => tried[at]?._tag !== "Success"),
                  alone,
                  { discard: true },
                ),
              ),
            )
          },
          { concurrency: "unbounded", discard: true },
        ).pipe(Effect.provideService(Database, database), Effect.forkIn(scope), Effect.asVoid)
      const isActive = () => Effect.succeed(true)
      const read = readBy(database, { send, isActive, idle: (_, books) => Effect.succeed(books) })
      return yield* Effect.provideService(sync, BookJobs, Option.some(read))
    }).pipe(Effect.scoped, Effect.provide(Layer.provide(BookSync.DefaultWithoutDependencies, site.services)))
