/**
 * Pulls a connection's movements into the mirror and the ledger, page by page, numbers what is new and reconciles it. A
 * run can be killed anywhere and started again: what is committed stays, and the rest is read again.
 */
import { Effect, Option } from "effect"
import { allBooks, type Book } from "./Book.ts"
import { Database } from "./Database.ts"
import { Ledger } from "./Ledger.ts"
import { Quarantine } from "./Mirror/Quarantine.ts"
import * as PartnerHttp from "./Partner/Http.ts"
import { keptRows } from "./Partner/Kept.ts"
import { Partner, PartnerConnection } from "./Partner.ts"
import { Reconcile } from "./Reconcile.ts"
import type { Interface } from "./Settings/Interface.ts"
import { Settings, SettingsError } from "./Settings.ts"
import { type RunOutcome, readConnection } from "./Sync/Connection.ts"
import { leased } from "./Sync/Leased.ts"
import { partsOf } from "./Sync/Parts.ts"
import { SyncBusy, SyncIncomplete, type SyncReport } from "./Sync/Report.ts"
import { Run } from "./Sync/Run.ts"
import { type ReplayReport, stillWait } from "./Sync/Tried.ts"

type Surface = "organization" | "client" | "credit"

export interface SyncOptions {
  readonly connection: string
  /** Read every statement and list from its start and reconcile everything, not only what is new. */
  readonly full: boolean
  /** Only this surface of the connection. */
  readonly surface?: Option.Option<Surface>
  /** Only this client, by its identifier or its code. */
  readonly client?: Option.Option<string>
}

export interface ReplayOptions {
  readonly connection: string
  /** Only these rows; none: all that wait. */
  readonly rows: ReadonlyArray<bigint>
}

const secondsSince = (started: number) =>
  Effect.clockWith((clock) => Effect.map(clock.currentTimeMillis, (now) => (now - started) / 1_000))

export class Sync extends Effect.Service<Sync>()("tieout/Sync", {
  dependencies: [Ledger.Default, Reconcile.Default],
  effect: Effect.gen(function* () {
    const settings = yield* Settings
    const database = yield* Database
    const ledger = yield* Ledger
    const reconcile = yield* Reconcile
    const services = yield* Effect.context<Database | Settings | Ledger>()

    const reportOf = Effect.fn("Sync.report")(function* (started: number, outcome: RunOutcome) {
      const run = yield* Run
      const partner = yield* PartnerConnection
      const requests = Object.fromEntries([...(yield* partner.requests)].sort(([a], [b]) => (a < b ? -1 : 1)))
      return {
        connection: run.connection,
        runId: run.runId,
        seconds: yield* secondsSince(started),
        counters: run.counters,
        requests,
        newEntries: outcome.newEntries,
        openResources: outcome.openResources,
        numbered: 0,
        findingsOpened: 0,
        findingsClosed: 0,
        blockingFindings: 0,
        clients: { read: outcome.clientsRead, skipped: outcome.skipped },
        clientFailures: outcome.clientFailures,
        notices: outcome.notices,
      } satisfies SyncReport
    })

    const inTimeZone = Effect.fn("Sync.inTimeZone")(function* (book: Book) {
      const zone = yield* ledger.dateIn(book)
      if (zone === settings.accounting.timeZone) return
      return yield* new SettingsError({
        reason: "Invalid",
        mistakes: [
          `accounting.timeZone: is ${settings.accounting.timeZone}, but the entries of book ${book.code} are dated in ${zone}`,
        ],
        advice: `Set it back to ${zone}, or begin a new database: a book cannot change its time zone.`,
      })
    })

    const readAndProve = Effect.fn("Sync.readAndProve")(function* (
      options: SyncOptions,
      surfaces: ReadonlySet<Surface>,
    ) {
      const run = yield* Run
      const started = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
      const outcome = yield* readConnection(
        { ...options, surfaces, client: options.client ?? Option.none() },
        partsOf,
        inTimeZone,
      )
      const { complete, failures } = outcome
      const report = yield* reportOf(started, outcome)
      // A book that was not read to its end is not numbered: numbers follow the reading order of everything that is new.
      const numbered = complete.length === 0 ? 0 : yield* run.commit(ledger.assignNumbers(complete))
      const found = yield* reconcile.afterRun(complete, { runId: run.runId, full: options.full })
      const proved = {
        ...report,
        seconds: yield* secondsSince(started),
        numbered,
        findingsOpened: found.opened,
        findingsClosed: found.closed,
        blockingFindings: found.blocking,
      }
      if (failures.length > 0) {
        const reason = failures.every(({ stopped }) => stopped) ? "Stopped" : "Failed"
        return yield* new SyncIncomplete({ reason, failures, report: proved })
      }
      return proved
    })

    const exitCodeOf = ({ blockingFindings, clientFailures }: SyncReport): number =>
      blockingFindings > 0 || clientFailures.length > 0 ? 3 : 0

    /** The surfaces to read: those of the connection, or the one that was asked for. */
    const surfacesOf = (
      known: ReadonlyArray<Surface>,
      { client, connection, surface }: SyncOptions,
    ): Effect.Effect<ReadonlySet<Surface>, SettingsError> => {
      const only: Option.Option<Surface> =
        client !== undefined && Option.isSome(client) ? Option.some("client") : (surface ?? Option.none())
      if (Option.isNone(only)) return Effect.succeed(new Set(known))
      if (known.includes(only.value)) return Effect.succeed(new Set([only.value]))
      return new SettingsError({
        reason: "Invalid",
        mistakes: [
          `connection ${connection} does not use the ${only.value} surface; it uses ${known.join(", ")}`,
        ],
        advice: `Add ${only.value} to connections.${connection}.surfaces, or ask for another one.`,
      })
    }

    /** One run of a connection. Everything is committed page by page; a failure keeps what was read before it. */
    const run = Effect.fn("Sync.run")(function* (options: SyncOptions) {
      const connection = yield* settings.connection(options.connection)
      const surfaces = yield* surfacesOf(connection.surfaces, options)
      const partner = PartnerHttp.layer({ ...connection, limits: settings.limits })
      return yield* database
        .withSessionLock(
          `sync:${options.connection}`,
          leased(options.connection, "sync", readAndProve(options, surfaces), (report) => ({
            code: exitCodeOf(report),
            newEntries: report.newEntries,
          })),
        )
        .pipe(
          Effect.provide(partner),
          Effect.provide(services),
          Effect.catchTag("LockBusy", () => new SyncBusy({ connection: options.connection })),
        )
    })

    const replayRows = Effect.fn("Sync.replayRows")(function* (
      { connection, rows }: ReplayOptions,
      profile: Interface,
    ) {
      const run = yield* Run
      const partner = yield* PartnerConnection
      const open = yield* (yield* Quarantine).list({ connection: Option.some(connection) })
      const wanted = new Set(
        open.map(({ quarantineId }) => quarantineId).filter((id) => rows.length === 0 || rows.includes(id)),
      )
      const kept = keptRows(profile)
      const concerned = (yield* allBooks(Option.some(connection))).filter(({ bookId }) =>
        open.some((row) => row.bookId === bookId && wanted.has(row.quarantineId)),
      )
      const tried = yield* Effect.forEach(concerned, (book) =>
        Effect.gen(function* () {
          yield* inTimeZone(book)
          const reads = Option.match(book.clientId, {
            onNone: () => partner.organization,
            onSome: partner.client,
          })
          const { replay } = yield* partsOf(Partner.of({ ...reads, requests: partner.requests }))
          const own = open.filter(({ bookId }) => bookId === book.bookId)
          return yield* replay.replay(book, own, wanted, kept)
        }),
      )
      const numbered = concerned.length === 0 ? 0 : yield* run.commit(ledger.assignNumbers(concerned))
      const found = yield* reconcile.afterRun(concerned, { runId: run.runId, full: false })
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

    /** Tries quarantined rows of a connection again. Exclusive with a run of it, and one itself. */
    const replay = Effect.fn("Sync.replay")(function* (options: ReplayOptions) {
      const connection = yield* settings.connection(options.connection)
      const work = Effect.suspend(() => replayRows(options, connection.interface))
      return yield* database
        .withSessionLock(
          `sync:${options.connection}`,
          leased(options.connection, "replay", work, (report) => ({
            code: stillWait(report).length > 0 ? 3 : 0,
            newEntries: new Map(),
          })),
        )
        .pipe(
          Effect.provide(PartnerHttp.layer({ ...connection, limits: settings.limits })),
          Effect.provide(services),
          Effect.catchTag("LockBusy", () => new SyncBusy({ connection: options.connection })),
        )
    })

    return { run, replay }
  }),
}) {}
