/** Tries quarantined rows again with today's decoders and settings, as a run of its own: exclusive with syncs. */
import { type Context, Effect, Layer, Option } from "effect"
import { byBook } from "../Book/ByBook.ts"
import { allBooks } from "../Book.ts"
import { Database } from "../Database.ts"
import { Ledger, noneNumbered } from "../Ledger.ts"
import { Quarantine } from "../Mirror/Quarantine.ts"
import { connected } from "../Partner/Connector.ts"
import { keptRows } from "../Partner/KeptRows.ts"
import { Partner, PartnerConnection } from "../Partner.ts"
import { Reconcile } from "../Reconcile.ts"
import { countBooked } from "../Run/Counters.ts"
import { beginRun, Run } from "../Run.ts"
import type { Interface } from "../Settings/Interface.ts"
import { Settings } from "../Settings.ts"
import { ReplayedResources } from "./Replay/ReplayedResources.ts"
import { Replay } from "./Replay/ReplayedRows.ts"
import { ReplayedStatements } from "./Replay/ReplayedStatements.ts"
import { unfinishedReplays } from "./Replay/Unfinished.ts"
import { holding } from "./Runs/ConnectionLock.ts"
import { runParts, syncParts } from "./Runs/Parts.ts"
import { bySettings, recordEnd } from "./Runs/Proving.ts"
import { type ReplayReport, stillWait } from "./Runs/ReplayResult.ts"
import { SyncBusy } from "./Runs/RunReport.ts"
import { watched } from "./Runs/Watched.ts"

export interface ReplayOptions {
  readonly connection: string
  /** Only these rows; none: all waiting rows. What an earlier replay left unnumbered or not reconciled is finished either way. */
  readonly rows: ReadonlyArray<bigint>
}

const replaying = Replay.Default.pipe(
  Layer.provide(Layer.mergeAll(ReplayedResources.Default, ReplayedStatements.Default)),
  Layer.provideMerge(Layer.effectContext(syncParts)),
)

const replayOf = (partner: Context.Tag.Service<Partner>) =>
  Effect.provide(Replay, Layer.provide(replaying, Layer.succeed(Partner, partner)))

export class QuarantineReplay extends Effect.Service<QuarantineReplay>()("tieout/QuarantineReplay", {
  dependencies: [Ledger.Default, Reconcile.Default],
  effect: Effect.gen(function* () {
    const settings = yield* Settings
    const database = yield* Database
    const ledger = yield* Ledger
    const reconcile = yield* Reconcile
    const services = yield* Effect.context<Database | Settings | Ledger | Reconcile>()

    const replayRows = Effect.fn("QuarantineReplay.rows")(function* (
      { connection, rows }: ReplayOptions,
      profile: Interface,
      unfinished: boolean,
    ) {
      const run = yield* Run
      const partner = yield* PartnerConnection
      const open = yield* (yield* Quarantine).list({ connection: Option.some(connection) })
      const named = new Set(rows)
      const chosen = open.filter(({ quarantineId }) => named.size === 0 || named.has(quarantineId))
      const wanted = new Set(chosen.map(({ quarantineId }) => quarantineId))
      const openOf = byBook(open)
      const ids = new Set(chosen.map(({ bookId }) => bookId))
      const kept = keptRows(profile, settings.accounting.timeZone)
      const books = yield* Effect.provide(allBooks(Option.some(connection)), services)
      const waiting = books.filter(({ bookId }) => ids.has(bookId))
      const concerned = unfinished ? books : waiting
      const tried = yield* Effect.forEach(waiting, (book) =>
        Effect.gen(function* () {
          yield* Effect.provide(bySettings([book], (yield* Run).commit), services)
          const reads = Option.match(book.clientId, {
            onNone: () => partner.organization,
            onSome: partner.client,
          })
          const replay = yield* replayOf(Partner.of({ ...reads, requests: partner.requests }))
          return yield* replay.replay(book, openOf.of(book), wanted, kept)
        }),
      )
      const { conversionEntries, numbered } =
        concerned.length === 0 ? noneNumbered : yield* run.commit(ledger.assignNumbers(concerned, run.runId))
      countBooked(run.counters, conversionEntries)
      const found = yield* reconcile.afterRun(concerned, { ...run, full: false })
      return {
        connection,
        tried: tried.flat(),
        entries: run.counters.entries,
        journalEntries: run.counters.journalEntries,
        reclassifications: run.counters.reclassifications,
        numbered,
        findingsOpened: found.opened,
        findingsClosed: found.closed,
      } satisfies ReplayReport
    })

    /** Tries rows of a connection again. */
    const run = Effect.fn("QuarantineReplay.run")(function* (options: ReplayOptions) {
      const connection = yield* settings.connection(options.connection)
      const work = Effect.gen(function* () {
        const unfinished = yield* unfinishedReplays(Option.some(options.connection))
        const begun = yield* beginRun(options.connection, "replay")
        return yield* watched("replay")(
          replayRows(options, connection.interface, unfinished.length > 0),
        ).pipe(
          Effect.provide(runParts),
          Effect.provideService(Run, begun),
          Effect.onExit((exit) =>
            recordEnd(begun, exit, (report) => ({ code: stillWait(report).length > 0 ? 3 : 0 })),
          ),
        )
      })
      return yield* holding(database, options.connection, work).pipe(
        Effect.provide(connected({ ...connection, limits: settings.limits })),
        Effect.provide(services),
        Effect.catchTag(
          "LockBusy",
          () => new SyncBusy({ connection: options.connection, undone: "no row of it was tried" }),
        ),
      )
    })

    return { run }
  }),
}) {}
