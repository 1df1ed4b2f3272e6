/**
 * Pulls a connection's movements into the mirror and the ledger, page by page, numbers what is new and reconciles it. A
 * run can be killed anywhere and started again: what is committed stays, and the rest is read again.
 */
import { type Context, Effect, Exit, Layer, Option } from "effect"
import type { Book } from "./Book.ts"
import { Database } from "./Database.ts"
import { Ledger } from "./Ledger.ts"
import { MirrorAccounts } from "./Mirror/Accounts.ts"
import { Quarantine } from "./Mirror/Quarantine.ts"
import { Receivables } from "./Mirror/Receivables.ts"
import { ReferenceItems } from "./Mirror/ReferenceItems.ts"
import { Resources } from "./Mirror/Resources.ts"
import { StatementEntries } from "./Mirror/StatementEntries.ts"
import * as PartnerHttp from "./Partner/Http.ts"
import { Partner, PartnerConnection } from "./Partner.ts"
import { Reconcile } from "./Reconcile.ts"
import { Settings, SettingsError } from "./Settings.ts"
import { Balances } from "./Sync/Balances.ts"
import { BookReader } from "./Sync/BookReader.ts"
import { Clients } from "./Sync/Clients.ts"
import { type RunOutcome, readConnection } from "./Sync/Connection.ts"
import { Credit } from "./Sync/Credit.ts"
import { DepositInstructions } from "./Sync/DepositInstructions.ts"
import { wasInterrupted } from "./Sync/Failures.ts"
import { Hydration } from "./Sync/Hydration.ts"
import { Lists } from "./Sync/Lists.ts"
import { Loans } from "./Sync/Loans.ts"
import { OpenResources } from "./Sync/OpenResources.ts"
import { FloodGate, Pages } from "./Sync/Page.ts"
import { PostingFacts } from "./Sync/PostingFacts.ts"
import { SyncBusy, SyncIncomplete, type SyncReport } from "./Sync/Report.ts"
import { beginRun, endRun, Run } from "./Sync/Run.ts"
import { Statements } from "./Sync/Statement.ts"
import { Statistics } from "./Sync/Statistics.ts"
import { watched } from "./Sync/Watched.ts"

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

/** What a run's books share. Built anew for every run: it remembers what this run has read. */
const shared = Layer.mergeAll(
  MirrorAccounts.Default,
  Quarantine.Default,
  Receivables.Default,
  ReferenceItems.Default,
  Resources.Default,
  StatementEntries.Default,
  Statistics.Default,
)

/** The parts of reading one book, which `Partner` gives. */
const bookParts = Layer.mergeAll(BookReader.Default, Loans.Default).pipe(
  Layer.provide(
    Layer.mergeAll(Lists.Default, Balances.Default, OpenResources.Default, DepositInstructions.Default),
  ),
  Layer.provide(Statements.Default),
  Layer.provide(Layer.mergeAll(Hydration.Default, Pages.Default)),
  Layer.provide(Layer.mergeAll(PostingFacts.Default, FloodGate.Default)),
)

/** Made anew for every book: they remember what of it was read. */
const partsOf = (partner: Context.Tag.Service<Partner>) =>
  Effect.all({ reader: BookReader, loans: Loans }).pipe(
    Effect.provide(Layer.provide(bookParts, Layer.succeed(Partner, partner))),
  )

const connectionParts = Layer.mergeAll(Clients.Default, Credit.Default).pipe(Layer.provide(FloodGate.Default))

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

    const underLease = (options: SyncOptions, surfaces: ReadonlySet<Surface>) =>
      Effect.gen(function* () {
        const run = yield* beginRun(options.connection, "sync")
        return yield* watched(readAndProve(options, surfaces)).pipe(
          Effect.provide(Layer.provideMerge(connectionParts, shared)),
          Effect.provideService(Run, run),
          Effect.onExit((exit) => {
            const stopped =
              wasInterrupted(exit) ||
              (Exit.isFailure(exit) &&
                exit.cause._tag === "Fail" &&
                exit.cause.error instanceof SyncIncomplete &&
                exit.cause.error.reason === "Stopped")
            const state = Exit.isSuccess(exit) ? "done" : stopped ? "stopped" : "failed"
            const code = Exit.isSuccess(exit) ? exitCodeOf(exit.value) : stopped ? 75 : 1
            const newEntries = Exit.isSuccess(exit) ? Object.fromEntries(exit.value.newEntries) : {}
            const failedBooks = Exit.isSuccess(exit)
              ? [...new Set(exit.value.clientFailures.flatMap(({ book }) => book ?? []))]
              : []
            const requests = Exit.isSuccess(exit) ? exit.value.requests : {}
            return Effect.ignore(
              endRun(run.runId, state, code, { counters: run.counters, requests, newEntries, failedBooks }),
            )
          }),
          Effect.annotateLogs({ connection: run.connection, run: run.runId }),
        )
      })

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
        .withSessionLock(`sync:${options.connection}`, underLease(options, surfaces))
        .pipe(
          Effect.provide(partner),
          Effect.provide(services),
          Effect.catchTag("LockBusy", () => new SyncBusy({ connection: options.connection })),
        )
    })

    return { run }
  }),
}) {}
