/**
 * Reads a span of time again, independently of how far the syncs have come: proves every statement's running balance from the
 * opening to the closing balance, books entries that were missing before the first known one, and reports entries within the
 * span that are missing, changed or gone. Safe beside a sync: each waits while the other writes. Workers read the clients'
 * books if they are handed out.
 */
import { type Context, Effect, FiberRef, Option } from "effect"
import { steadyMillis } from "../Common/Time.ts"
import { Database } from "../Database.ts"
import { Ledger } from "../Ledger.ts"
import { connected } from "../Partner/Connector.ts"
import { Reconcile } from "../Reconcile.ts"
import { fenced, type Lease, takeLease } from "../Run/Lease.ts"
import { backfillLock, freshRun, openRun, Run } from "../Run.ts"
import { Settings } from "../Settings.ts"
import type { AccountBackfill } from "./Backfill/BackfilledStatements.ts"
import type { BackfillWindow } from "./Backfill/BackfillWindow.ts"
import { backfillPartsOf } from "./Backfill/Parts.ts"
import { type Days, type Window, windowOf } from "./Backfill/Window.ts"
import { readConnection } from "./Runs/Connection.ts"
import { forAMoment } from "./Runs/ConnectionLock.ts"
import { settleDead } from "./Runs/DeadJobs.ts"
import { runParts } from "./Runs/Parts.ts"
import { endOf, followingSettings, prove, recordEnd } from "./Runs/Proving.ts"
import { SyncBusy, type SyncReport } from "./Runs/RunReport.ts"
import { type Surface, type SurfaceOptions, surfacesOf } from "./Runs/Surfaces.ts"
import { watched } from "./Runs/Watched.ts"

export interface BackfillOptions extends SurfaceOptions {
  readonly days: Days
}

export interface BackfillReport extends SyncReport {
  readonly window: Window
  /** By book and account. */
  readonly accounts: ReadonlyArray<AccountBackfill>
}

export class Backfill extends Effect.Service<Backfill>()("tieout/Backfill", {
  dependencies: [Ledger.Default, Reconcile.Default],
  scoped: Effect.gen(function* () {
    const settings = yield* Settings
    const database = yield* Database
    const services = yield* Effect.context<Database | Settings | Ledger | Reconcile>()
    const lease = yield* FiberRef.make(Option.none<Lease>())

    /** Takes turns with syncs of the connection, and with the other parts of this backfill. */
    const turns = Effect.fn("Backfill.turns")(function* (connection: string, runId: number) {
      const one = yield* Effect.makeSemaphore(1)
      const exclusively = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.flatMap(FiberRef.get(lease), (held) =>
          Option.isSome(held)
            ? effect
            : one.withPermits(1)(
                forAMoment(
                  database,
                  connection,
                  Effect.flatMap(
                    Effect.provideService(
                      takeLease({ connection, book: Option.none() }, runId),
                      Database,
                      database,
                    ),
                    (taken) => Effect.locally(effect, lease, Option.some(taken)),
                  ),
                ),
              ),
        )
      const commit = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        exclusively(
          Effect.flatMap(FiberRef.get(lease), (held) =>
            Option.isNone(held)
              ? Effect.dieMessage("a backfill writes only in its turn")
              : fenced(database, held.value)(effect),
          ),
        )
      return { exclusively, commit }
    })

    const readAndProve = (
      options: BackfillOptions,
      surfaces: ReadonlySet<Surface>,
      shared: Context.Tag.Service<BackfillWindow>,
    ) =>
      Effect.gen(function* () {
        const started = yield* steadyMillis
        const { client = Option.none(), connection, days } = options
        const outcome = yield* readConnection(
          { connection, surfaces, client, window: shared.window },
          backfillPartsOf(shared),
          followingSettings(services),
        )
        shared.results.push(...outcome.elsewhere.accounts)
        const run = yield* Run
        const settled = run.commit(settleDead(outcome.read, { kind: "backfill", days }))
        // A sync under way stores balances before it has read the ends of the statements that belong to them.
        return yield* shared.exclusively(Effect.zipRight(settled, prove(started, false, outcome)))
      })

    const alone = (options: BackfillOptions, surfaces: ReadonlySet<Surface>) =>
      Effect.gen(function* () {
        const { connection, days } = options
        const started = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
        const window = yield* windowOf(days, settings.accounting.timeZone)
        const { runId } = yield* openRun(connection, "backfill")
        const { commit, exclusively } = yield* turns(connection, runId)
        const run = Run.of({
          ...freshRun(connection, runId, started),
          commit,
          turn: exclusively,
          // A lock of its own keeps a second backfill away. A backfill that lost the lock finds its run marked as abandoned.
          conclude: (effect) => database.transaction(effect),
        })
        const results: Array<AccountBackfill> = []
        const report = yield* watched("backfill")(
          readAndProve(options, surfaces, { window, exclusively, results }),
        ).pipe(
          Effect.provide(runParts),
          Effect.provideService(Run, run),
          Effect.onExit((exit) => recordEnd(run, exit, (done) => ({ ...endOf(done), whole: false, days }))),
        )
        const order = ({ accountId, book }: AccountBackfill) => `${book} ${accountId}`
        return {
          ...report,
          window,
          accounts: results.sort((a, b) => (order(a) < order(b) ? -1 : 1)),
        } satisfies BackfillReport
      })

    /** Two backfills of one connection do not run at once. */
    const run = Effect.fn("Backfill.run")(function* (options: BackfillOptions) {
      const connection = yield* settings.connection(options.connection)
      const surfaces = yield* surfacesOf(connection.surfaces, options)
      const partner = connected({ ...connection, limits: settings.limits })
      return yield* database.withSessionLock(backfillLock(options.connection), alone(options, surfaces)).pipe(
        Effect.provide(partner),
        Effect.provide(services),
        Effect.catchTag("LockBusy", () => new SyncBusy({ connection: options.connection, what: "backfill" })),
      )
    })

    return { run }
  }),
}) {}
