/** Syncs in which real workers read the clients' books, without or with the queue in between. */
import { Deferred, Effect, Layer, Option } from "effect"
import { Database } from "../../src/Database.ts"
import { bookJobs } from "../../src/Jobs/BookJob.ts"
import { runsWorkers } from "../../src/Jobs/Boss.ts"
import { readBy } from "../../src/Jobs/Leading.ts"
import { Settings } from "../../src/Settings.ts"
import { Backfill } from "../../src/Sync/Backfill.ts"
import { BookSync } from "../../src/Sync/BookSync.ts"
import { Events } from "../../src/Sync/Events.ts"
import { BookJobs } from "../../src/Sync/Runs/BookJobs.ts"
import type { SyncOptions } from "../../src/Sync.ts"
import { Inbox } from "../../src/Webhook/Inbox.ts"
import { client, clientId, lending, move } from "../Sync/Lending.ts"
import { journal, syncWith, variablesFor } from "../Sync/Runs.ts"
import { inOwnDatabase } from "../support/TestDatabase.ts"
import { unpaced } from "../support/Unpaced.ts"

export interface Job {
  readonly connection: string
  readonly bookId: number
}

/** The services of a worker besides the database and the settings. */
export const workerServices = Layer.merge(BookSync.Default, Layer.provideMerge(Events.Default, Inbox.Default))

/** Jobs that are done one by one. */
export const singleJobs = Effect.map(bookJobs(1), ({ giveUp, read }) => ({
  giveUp,
  read: (job: Job) => Effect.flatMap(read([job]), ([only]) => only ?? Effect.void),
}))

export type Jobs = Effect.Effect.Success<typeof singleJobs>

/** Replaces or surrounds the work of a worker on a job. */
type Around = (jobs: Jobs, job: Job) => Effect.Effect<void, never, Database | Inbox>

const does: Around = (jobs, job) => Effect.orDie(jobs.read(job))

/** Runs an effect whose books so many workers take by turns; a book that a worker leaves is handed out again. */
export const withWorkers =
  (variables: Record<string, string>, count: number, around: Around = does) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const database = yield* Database
      const inbox = yield* Inbox
      const workers = yield* Effect.all(Array.from({ length: count }, () => singleJobs))
      const taken = new Set<number>()
      const send = (connection: string, books: ReadonlyArray<number>) => {
        for (const bookId of books) taken.add(bookId)
        return Effect.forkDaemon(
          Effect.forEach(
            workers,
            (jobs, place) =>
              Effect.forEach(
                books.filter((_, index) => index % count === place),
                (bookId) =>
                  Effect.ensuring(
                    around(jobs, { connection, bookId }),
                    Effect.sync(() => taken.delete(bookId)),
                  ),
              ),
            { concurrency: "unbounded", discard: true },
          ).pipe(Effect.provideService(Database, database), Effect.provideService(Inbox, inbox)),
        ).pipe(Effect.asVoid)
      }
      const idle = (_: string, books: ReadonlyArray<number>) =>
        Effect.sync(() => books.filter((bookId) => !taken.has(bookId)))
      return yield* Effect.provideService(
        effect,
        BookJobs,
        Option.some(readBy(database, { send, idle, isActive: () => Effect.succeed(true) })),
      )
    }).pipe(
      Effect.scoped,
      Effect.provide(Layer.provideMerge(workerServices, Settings.from({ variables }))),
      unpaced,
    )

/** The work of a worker on all jobs of a sync, which it takes together. */
type Batch = (
  jobs: Effect.Effect.Success<ReturnType<typeof bookJobs>>,
  batch: ReadonlyArray<Job>,
) => Effect.Effect<void, never, Database>

/** One sync whose books one worker takes together. */
export const syncWithBatch = (variables: Record<string, string>, batch: Batch, concurrency = 4) =>
  Effect.gen(function* () {
    const database = yield* Database
    const jobs = yield* bookJobs(concurrency, "3 seconds")
    // The leading process would wait for workers to come back; these do not.
    const lost = yield* Deferred.make<never>()
    const send = (connection: string, books: ReadonlyArray<number>) =>
      batch(
        jobs,
        books.map((bookId) => ({ connection, bookId })),
      ).pipe(
        Effect.catchAllCause((cause) => Deferred.failCause(lost, cause)),
        Effect.provideService(Database, database),
        Effect.forkDaemon,
        Effect.asVoid,
      )
    return yield* Effect.provideService(
      syncWith(variables),
      BookJobs,
      Option.some(
        readBy(database, { send, idle: () => Effect.succeed([]), isActive: () => Effect.succeed(true) }),
      ),
    ).pipe(Effect.raceFirst(Deferred.await(lost)))
  }).pipe(
    Effect.scoped,
    Effect.provide(Layer.provideMerge(workerServices, Settings.from({ variables }))),
    unpaced,
  )

/** One sync whose books so many workers take by turns. */
export const syncWithWorkers = (
  variables: Record<string, string>,
  count: number,
  { around = does, ...options }: Partial<SyncOptions> & { readonly around?: Around } = {},
) => withWorkers(variables, count, around)(syncWith(variables, options))

/** Where workers run: Node may be too old for the queue. */
export const hasWorkers = runsWorkers(process.versions.node)

/** Clients' books with two credits each, read over the client surface. */
export const creditedClients = (count: number) =>
  Effect.gen(function* () {
    const { held, service } = yield* lending({
      clients: Array.from({ length: count }, (_, index) => client(index + 1)),
    })
    for (let index = 1; index <= count; index++)
      for (const amount of [10, 20]) move(held, clientId(index), { type: "CREDIT", amount })
    const surfaces = { TIEOUT_CONNECTIONS: "{default: {surfaces: [client]}}" }
    return { service, variables: { ...variablesFor(service.url), ...surfaces } }
  })

/** The journal that a sync in one process makes, in a database of its own. */
export const journalOfOneProcess = (variables: Record<string, string>) =>
  inOwnDatabase(Effect.zipRight(syncWith(variables), journal))

/**
 * The next write to a table takes the lease of a book away, as another worker would. `at`: `insert or update or delete on TABLE`,
 * or one of these.
 */
export const overtaking = (at: string, book: string) => `
  create table sync.overtaken (at timestamptz);
  create function sync.overtake() returns trigger language plpgsql as $$ begin
    if not exists (select from sync.overtaken) then
      insert into sync.overtaken values (now());
      update sync.leases set epoch = epoch + 1, taken_at = now()
      where book_id = (select book_id from mirror.books where code = '${book}');
    end if;
    return null;
  end $$;
  create trigger overtaking after ${at} for each statement execute function sync.overtake();`

export const october = { from: "2026-10-01", to: "2026-10-31" }

/** One backfill, in this process unless it is given workers. */
export const backfillWith = (variables: Record<string, string>, days = october) =>
  Effect.flatMap(Backfill, (service) => service.run({ connection: "default", days })).pipe(
    Effect.provide(Layer.provideMerge(Backfill.Default, Settings.from({ variables }))),
    Effect.scoped,
    unpaced,
  )
