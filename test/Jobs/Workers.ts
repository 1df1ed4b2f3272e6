/** Syncs whose clients' books are read by workers: the real ones, without the queue between, or with it. */
import { Effect, Layer, Option } from "effect"
import { Database } from "../../src/Database.ts"
import { bookJobs } from "../../src/Jobs/BookJob.ts"
import { readBy } from "../../src/Jobs/Leading.ts"
import { Settings } from "../../src/Settings.ts"
import { BookSync } from "../../src/Sync/BookSync.ts"
import { Events } from "../../src/Sync/Events.ts"
import { BookJobs } from "../../src/Sync/Runs/BookJobs.ts"
import type { SyncOptions } from "../../src/Sync.ts"
import { Inbox } from "../../src/Webhook/Inbox.ts"
import { syncWith } from "../Sync/Runs.ts"
import { unpaced } from "../support/Unpaced.ts"

export interface Job {
  readonly connection: string
  readonly bookId: number
}

/** What a worker has beside the database and the settings. */
export const workerServices = Layer.merge(BookSync.Default, Layer.provideMerge(Events.Default, Inbox.Default))

export type Jobs = Effect.Effect.Success<typeof bookJobs>

/** One sync whose books so many workers take by turns; `around`: what a worker does with a job, instead of reading it. */
export const syncWithWorkers = (
  variables: Record<string, string>,
  count: number,
  {
    around = (jobs, job) => Effect.orDie(jobs.read(job)),
    ...options
  }: Partial<SyncOptions> & {
    readonly around?: (jobs: Jobs, job: Job) => Effect.Effect<void, never, Database | Inbox>
  } = {},
) =>
  Effect.gen(function* () {
    const database = yield* Database
    const inbox = yield* Inbox
    const workers = yield* Effect.all(Array.from({ length: count }, () => bookJobs))
    const read = readBy(database, (connection, books) =>
      Effect.forkDaemon(
        Effect.forEach(
          workers,
          (jobs, place) =>
            Effect.forEach(
              books.filter((_, index) => index % count === place),
              (bookId) => around(jobs, { connection, bookId }),
            ),
          { concurrency: "unbounded", discard: true },
        ).pipe(Effect.provideService(Database, database), Effect.provideService(Inbox, inbox)),
      ).pipe(Effect.asVoid),
    )
    return yield* Effect.provideService(syncWith(variables, options), BookJobs, Option.some(read))
  }).pipe(
    Effect.scoped,
    Effect.provide(Layer.provideMerge(workerServices, Settings.from({ variables }))),
    unpaced,
  )
