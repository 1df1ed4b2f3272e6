/**
 * Pulls a connection's movements into the mirror and the ledger, page by page, numbers what is new and reconciles it. A
 * run can be killed anywhere and started again: what is committed stays, and the rest is read again.
 */
import { Effect, Exit, Layer } from "effect"
import { organizationBook } from "./Book.ts"
import { Database } from "./Database.ts"
import { Ledger } from "./Ledger.ts"
import { MirrorAccounts } from "./Mirror/Accounts.ts"
import { Quarantine } from "./Mirror/Quarantine.ts"
import { ReferenceItems } from "./Mirror/ReferenceItems.ts"
import { Resources } from "./Mirror/Resources.ts"
import { StatementEntries } from "./Mirror/StatementEntries.ts"
import * as PartnerHttp from "./Partner/Http.ts"
import { Partner } from "./Partner.ts"
import { Reconcile } from "./Reconcile.ts"
import { Settings, SettingsError } from "./Settings.ts"
import { Balances } from "./Sync/Balances.ts"
import { Hydration } from "./Sync/Hydration.ts"
import { Lists } from "./Sync/Lists.ts"
import { OpenResources } from "./Sync/OpenResources.ts"
import { type BookOutcome, Organization, wasInterrupted } from "./Sync/Organization.ts"
import { FloodGate, Pages } from "./Sync/Page.ts"
import { SyncBusy, SyncIncomplete, type SyncReport } from "./Sync/Report.ts"
import { beginRun, endRun, Run } from "./Sync/Run.ts"
import { Statements } from "./Sync/Statement.ts"
import { Statistics } from "./Sync/Statistics.ts"

export interface SyncOptions {
  readonly connection: string
  /** Read every statement and list from its start and reconcile everything, not only what is new. */
  readonly full: boolean
}

/** The parts of one run. Built anew for every run: they remember what this run has read. */
const parts = Organization.Default.pipe(
  Layer.provide(Layer.mergeAll(Lists.Default, Balances.Default, OpenResources.Default)),
  Layer.provide(Statements.Default),
  Layer.provide(Layer.mergeAll(Hydration.Default, Pages.Default, FloodGate.Default)),
  Layer.provide(Statistics.Default),
  Layer.provide(
    Layer.mergeAll(
      MirrorAccounts.Default,
      Quarantine.Default,
      ReferenceItems.Default,
      Resources.Default,
      StatementEntries.Default,
    ),
  ),
)

const secondsSince = (started: number) =>
  Effect.clockWith((clock) => Effect.map(clock.currentTimeMillis, (now) => (now - started) / 1_000))

export class Sync extends Effect.Service<Sync>()("tieout/Sync", {
  dependencies: [Ledger.Default, Reconcile.Default],
  effect: Effect.gen(function* () {
    const database = yield* Database
    const settings = yield* Settings
    const ledger = yield* Ledger
    const reconcile = yield* Reconcile
    const services = yield* Effect.context<Database | Settings | Ledger>()

    const reportOf = Effect.fn("Sync.report")(function* (started: number, outcome: BookOutcome) {
      const run = yield* Run
      const partner = yield* Partner
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
        notices: outcome.notices,
      } satisfies SyncReport
    })

    const readAndProve = Effect.fn("Sync.readAndProve")(function* (options: SyncOptions) {
      const run = yield* Run
      const organization = yield* Organization
      const started = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
      const book = yield* organizationBook(options.connection)
      const zone = yield* ledger.dateIn(book)
      if (zone !== settings.accounting.timeZone) {
        return yield* new SettingsError({
          reason: "Invalid",
          mistakes: [
            `accounting.timeZone: is ${settings.accounting.timeZone}, but the entries of book ${book.code} are dated in ${zone}`,
          ],
          advice: `Set it back to ${zone}, or begin a new database: a book cannot change its time zone.`,
        })
      }
      const outcome = yield* organization.read(book, options.full)
      const { failures } = outcome
      if (failures.length > 0) {
        const reason = failures.every(({ stopped }) => stopped) ? "Stopped" : "Failed"
        return yield* new SyncIncomplete({ reason, failures, report: yield* reportOf(started, outcome) })
      }
      // A run that stops early does not number: numbers follow the reading order of everything that is new.
      const numbered = yield* run.commit(ledger.assignNumbers([book]))
      const found = yield* reconcile.book(book, { runId: run.runId, full: options.full })
      return {
        ...(yield* reportOf(started, outcome)),
        numbered,
        findingsOpened: found.opened,
        findingsClosed: found.closed,
        blockingFindings: found.blocking,
      }
    })

    const underLease = (options: SyncOptions) =>
      Effect.gen(function* () {
        const run = yield* beginRun(options.connection, "sync")
        return yield* readAndProve(options).pipe(
          Effect.provide(parts),
          Effect.provideService(Run, run),
          Effect.onExit((exit) => {
            const stopped =
              wasInterrupted(exit) ||
              (Exit.isFailure(exit) &&
                exit.cause._tag === "Fail" &&
                exit.cause.error instanceof SyncIncomplete &&
                exit.cause.error.reason === "Stopped")
            const state = Exit.isSuccess(exit) ? "done" : stopped ? "stopped" : "failed"
            const code = Exit.isSuccess(exit) ? (exit.value.blockingFindings > 0 ? 3 : 0) : stopped ? 75 : 1
            const newEntries = Exit.isSuccess(exit) ? Object.fromEntries(exit.value.newEntries) : {}
            return Effect.ignore(endRun(run.runId, state, code, { counters: run.counters, newEntries }))
          }),
        )
      })

    /** One run of a connection. Everything is committed page by page; a failure keeps what was read before it. */
    const run = Effect.fn("Sync.run")(function* (options: SyncOptions) {
      const connection = yield* settings.connection(options.connection)
      const partner = PartnerHttp.layer({ ...connection, limits: settings.limits })
      return yield* database.withSessionLock(`sync:${options.connection}`, underLease(options)).pipe(
        Effect.provide(partner),
        Effect.provide(services),
        Effect.catchTag("LockBusy", () => new SyncBusy({ connection: options.connection })),
      )
    })

    return { run }
  }),
}) {}
