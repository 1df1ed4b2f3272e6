/**
 * Pulls a connection's movements into the mirror and the ledger, page by page, numbers what is new and reconciles it. A
 * run can be killed anywhere and started again: what is committed stays, and the rest is read again.
 */
import { Effect, Option } from "effect"
import { organizationBook } from "./Book.ts"
import { steadyMillis } from "./Common/Time.ts"
import { changedOver } from "./Database/DatabaseError.ts"
import { Database } from "./Database.ts"
import { Ledger } from "./Ledger.ts"
import { connected } from "./Partner/Connector.ts"
import { Reconcile } from "./Reconcile.ts"
import { beginRun, leadRun, Run } from "./Run.ts"
import { Settings } from "./Settings.ts"
import { forget } from "./Sync/Retention.ts"
import { BookJobs } from "./Sync/Runs/BookJobs.ts"
import { readConnection } from "./Sync/Runs/Connection.ts"
import { holding, leading } from "./Sync/Runs/ConnectionLock.ts"
import { settleDead } from "./Sync/Runs/DeadJobs.ts"
import { warnOfOtherName } from "./Sync/Runs/OtherName.ts"
import { runParts, syncPartsOf } from "./Sync/Runs/Parts.ts"
import { endOf, followingSettings, prove, recordEnd } from "./Sync/Runs/Proving.ts"
import { SyncBusy } from "./Sync/Runs/RunReport.ts"
import { type Surface, type SurfaceOptions, surfacesOf } from "./Sync/Runs/Surfaces.ts"
import { watched } from "./Sync/Runs/Watched.ts"

export interface SyncOptions extends SurfaceOptions {
  /** Read every statement and list from its start and reconcile everything, not only what is new. */
  readonly full: boolean
  /** Only statements whose account's balance has moved; no lists and no open resources. */
  readonly quick?: boolean
}

export class Sync extends Effect.Service<Sync>()("tieout/Sync", {
  dependencies: [Ledger.Default, Reconcile.Default],
  effect: Effect.gen(function* () {
    const settings = yield* Settings
    const database = yield* Database
    const services = yield* Effect.context<Database | Settings | Ledger | Reconcile>()

    const readAndProve = Effect.fn("Sync.readAndProve")(function* (
      options: SyncOptions,
      surfaces: ReadonlySet<Surface>,
      partial: boolean,
    ) {
      const started = yield* steadyMillis
      const { client = Option.none(), connection, full, quick = false } = options
      const outcome = yield* readConnection(
        { connection, surfaces, client, full, quick },
        syncPartsOf(full, quick),
        followingSettings(services),
      )
      const run = yield* Run
      if (!quick) yield* run.commit(settleDead(outcome.read, { kind: "sync" }))
      return yield* prove(started, full, outcome, partial)
    })

    const underLease = (
      begun: ReturnType<typeof beginRun>,
      options: SyncOptions,
      surfaces: ReadonlySet<Surface>,
      partial: boolean,
    ) =>
      Effect.gen(function* () {
        const run = yield* begun
        return yield* watched("sync")(readAndProve(options, surfaces, partial)).pipe(
          Effect.mapError(changedOver),
          Effect.provide(runParts),
          Effect.provideService(Run, run),
          Effect.onExit((exit) => recordEnd(run, exit, endOf)),
          Effect.annotateLogs({ connection: run.connection, run: run.runId }),
          Effect.annotateSpans({ connection: run.connection, run: run.runId }),
        )
      })

    /** One run of a connection. Everything is committed page by page; a failure keeps what was read before it. */
    const run = Effect.fn("Sync.run")(function* (options: SyncOptions) {
      const connection = yield* settings.connection(options.connection)
      const surfaces = yield* surfacesOf(connection.surfaces, options)
      const partial =
        options.quick === true ||
        Option.isSome(options.client ?? Option.none()) ||
        connection.surfaces.some((surface) => !surfaces.has(surface))
      const partner = connected({ ...connection, limits: settings.limits })
      // After a complete run, outside its lease. What is too much for one time waits for the next run.
      const forgetting = forget().pipe(
        Effect.catchAll(({ message }) => Effect.logWarning(`Old rows were not deleted: ${message}`)),
      )
      const workers = yield* BookJobs
      yield* warnOfOtherName(options.connection, settings.connectionNames).pipe(Effect.provide(services))
      const alone = () =>
        holding(
          database,
          options.connection,
          underLease(beginRun(options.connection, "sync"), options, surfaces, partial),
        )
      const withWorkers = () =>
        Effect.flatMap(organizationBook(options.connection), (book) =>
          leading(database, book, underLease(leadRun(book, "sync"), options, surfaces, partial)),
        )
      return yield* (Option.isSome(workers) && surfaces.has("client") ? withWorkers() : alone()).pipe(
        Effect.tap(() => (partial ? Effect.void : forgetting)),
        Effect.provide(partner),
        Effect.provide(services),
        Effect.catchTag("LockBusy", () => new SyncBusy({ connection: options.connection })),
      )
    })

    return { run }
  }),
}) {}
