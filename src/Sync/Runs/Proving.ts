/** From reading a connection to books that are numbered and proved: what syncs and backfills share. */
import { type Context, Effect, Exit } from "effect"
import { type Book, organizationCode } from "../../Book.ts"
import { steadyMillis } from "../../Common/Time.ts"
import { DatabaseError } from "../../Database/DatabaseError.ts"
import { Ledger, noneNumbered } from "../../Ledger.ts"
import { PartnerConnection } from "../../Partner.ts"
import { acceptedClients } from "../../Reconcile/AcceptedClients.ts"
import { Reconcile } from "../../Reconcile.ts"
import { countBooked } from "../../Run/Counters.ts"
import type { Commit } from "../../Run/Lease.ts"
import { endRun, Run } from "../../Run.ts"
import { Settings, SettingsError } from "../../Settings.ts"
import { addedUp } from "./Counts.ts"
import { wasStopped } from "./Failures.ts"
import { meterRun } from "./RunMeters.ts"
import { type Failure, hinders, SyncIncomplete, type SyncReport } from "./RunReport.ts"
import type { RunOutcome } from "./RunTotals.ts"

/** SQLSTATE of a time zone that no book can be dated in (`drizzle/rules.sql`). */
const unfitZone = "TO010"

/** A book is dated in one time zone for good, and its accounts have the names that the settings give them now. */
export const bySettings = Effect.fn("Sync.bySettings")(function* (
  books: ReadonlyArray<Book>,
  commit: Commit,
) {
  if (books.length === 0) return
  const { accounting } = yield* Settings
  const ledger = yield* Ledger
  const [other] = yield* ledger.dateIn(books, commit).pipe(
    Effect.catchIf(
      (error) => error instanceof DatabaseError && error.sqlstate === unfitZone,
      () =>
        new SettingsError({
          reason: "Invalid",
          mistakes: [
            `accounting.timeZone: is ${accounting.timeZone}, which the database does not know, or takes for the same offset all year`,
          ],
          advice: "Name the zone by its place, such as Europe/Brussels: a book cannot change its time zone.",
        }),
    ),
  )
  if (other === undefined) return yield* ledger.followChart(books, commit)
  const { book, zone } = other
  return yield* new SettingsError({
    reason: "Invalid",
    mistakes: [
      `accounting.timeZone: is ${accounting.timeZone}, but the entries of book ${book.code} are dated in ${zone}`,
    ],
    advice: `Set it back to ${zone}, or begin a new database: a book cannot change its time zone.`,
  })
})

/** How the books of a run get what the settings say of them. */
export const followingSettings = (services: Context.Context<Settings | Ledger>) => ({
  /** Only their time zone, and only those that have none yet. */
  dated: (books: ReadonlyArray<Book>, commit: Commit) =>
    Effect.provide(
      Effect.flatMap(Ledger, ({ dateIn }) => dateIn(books, commit)),
      services,
    ),
  bySettings: (books: ReadonlyArray<Book>, commit: Commit) =>
    Effect.provide(bySettings(books, commit), services),
})

const sorted = (counts: ReadonlyMap<string, number>): Readonly<Record<string, number>> =>
  Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)))

/** Of clients that a close accepted as gone it is only noted that they cannot be read. */
const withoutAccepted = Effect.fnUntraced(function* (
  connection: string,
  { clientFailures, notices }: Pick<RunOutcome, "clientFailures" | "notices">,
) {
  if (clientFailures.length === 0) return { clientFailures, notices }
  const accepted = yield* acceptedClients(connection)
  const monthOf = ({ book }: Failure) => (book === undefined ? undefined : accepted.get(book))
  const gone = new Map(
    clientFailures.flatMap((failure) => {
      const month = monthOf(failure)
      return failure.book === undefined || month === undefined ? [] : [[failure.book, month] as const]
    }),
  )
  return {
    clientFailures: clientFailures.filter((failure) => monthOf(failure) === undefined),
    notices: [
      ...notices,
      ...[...gone]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([book, month]) => `Client ${book} cannot be read any more, as the close of ${month} accepted.`),
    ],
  }
})

/**
 * Numbers and reconciles what was read to its end. Fails with `SyncIncomplete`, which holds the report, where something was
 * not. `started`: by the steady clock.
 */
export const prove = Effect.fn("Sync.prove")(function* (
  started: number,
  full: boolean,
  outcome: RunOutcome,
  partial = false,
) {
  const run = yield* Run
  const ledger = yield* Ledger
  const reconcile = yield* Reconcile
  const { requests } = yield* PartnerConnection
  const { complete, elsewhere, failures, hindered, isShared } = outcome
  // A book that was not read to its end is not numbered: numbers follow the reading order of everything that is new.
  const { conversionEntries, numbered } =
    complete.length === 0 ? noneNumbered : yield* run.commit(ledger.assignNumbers(complete, run.runId))
  countBooked(run.counters, conversionEntries)
  yield* ledger.sweepQueues(numbered)
  const found = yield* reconcile.afterRun(complete, { ...run, full, isShared })
  const troubled = yield* reconcile.afterTrouble(hindered, run)
  if (isShared) yield* run.commit(reconcile.cover(complete, run.runId))
  const unread = yield* withoutAccepted(run.connection, outcome)
  const report: SyncReport = {
    connection: run.connection,
    runId: run.runId,
    seconds: ((yield* steadyMillis) - started) / 1_000,
    counters: run.counters,
    requests: sorted(addedUp(yield* requests, elsewhere.requests)),
    newEntries: outcome.newEntries,
    openResources: outcome.openResources,
    numbered: numbered + elsewhere.numbered,
    findingsOpened: found.opened + troubled.opened + elsewhere.findingsOpened,
    findingsClosed: found.closed + troubled.closed + elsewhere.findingsClosed,
    blockingFindings: found.blocking + troubled.blocking + elsewhere.blockingFindings,
    clients: { read: outcome.clientsRead, skipped: outcome.skipped },
    ...unread,
    partial,
  }
  if (failures.length === 0) return report
  const reason = failures.every(({ passing }) => passing) ? "Stopped" : "Failed"
  return yield* new SyncIncomplete({ reason, failures, report })
})

/** Books, and accounts, that the summary of a run names: the summary does not grow without end. */
const mostBooks = 1_000
const mostAccounts = 10_000

/** The accounts with most new entries, and how many more have some. */
const newest = (newEntries: ReadonlyMap<string, number>) => {
  const accounts = [...newEntries].filter(([, entries]) => entries > 0).sort(([, a], [, b]) => b - a)
  return {
    newEntries: Object.fromEntries(accounts.slice(0, mostAccounts)),
    ...(accounts.length > mostAccounts ? { moreAccounts: accounts.length - mostAccounts } : {}),
  }
}

/** The stored summary of a run that has ended. */
interface Ended {
  readonly code: number
  /** New statement entries by account. */
  readonly newEntries?: ReadonlyMap<string, number>
  /** A sync that read its whole connection. */
  readonly whole?: boolean
  /** Requests sent, by kind of endpoint. */
  readonly requests?: Readonly<Record<string, number>>
  /** Codes of books that could not be read. */
  readonly failedBooks?: ReadonlyArray<string>
  /** Of a run that did not end well: whether the books that it read are numbered and proved all the same. */
  readonly proved?: boolean
  /** Of a sync: it was asked for less than the connection has. */
  readonly partial?: boolean
  /** Of a backfill: the days that it read, both included. */
  readonly days?: { readonly from: string; readonly to: string }
  /** Of what a person did by hand: who. */
  readonly by?: string
}

/** How a sync, or a backfill, ended. */
export const endOf = ({
  blockingFindings,
  clientFailures,
  newEntries,
  partial,
  requests,
}: SyncReport): Ended => ({
  code: blockingFindings > 0 || clientFailures.length > 0 ? 3 : 0,
  newEntries,
  requests,
  partial,
  whole: !partial,
  failedBooks: [...new Set(clientFailures.filter(hinders).flatMap(({ book }) => book ?? []))],
})

/** The end of a run that could not read everything: the books that it did read are numbered and proved. */
const endOfIncomplete = ({ failures, reason, report }: SyncIncomplete): Ended => {
  const whole = endOf(report)
  const own = failures.filter(hinders).map(({ book }) => book ?? organizationCode(report.connection))
  return {
    ...whole,
    code: reason === "Stopped" ? 75 : 1,
    failedBooks: [...new Set([...own, ...(whole.failedBooks ?? [])])],
    proved: true,
    whole: false,
  }
}

const errorOf = <A>(exit: Exit.Exit<A, unknown>): unknown =>
  Exit.isFailure(exit) && exit.cause._tag === "Fail" ? exit.cause.error : undefined

/** Records how a run ended, unless a later run has overtaken it, which then records that. */
export const recordEnd = Effect.fn("Sync.recordEnd")(function* <A>(
  run: Run["Type"],
  exit: Exit.Exit<A, unknown>,
  ended: (done: A) => Ended,
) {
  const error = errorOf(exit)
  const incomplete = error instanceof SyncIncomplete ? error : undefined
  // A client that is misspelt: nothing was asked for, and what the sync before it says of the books still holds.
  const impossible = error instanceof SettingsError && error.reason === "UnknownClient"
  const stopped = wasStopped(exit)
  const state = Exit.isSuccess(exit) ? "done" : stopped ? "stopped" : "failed"
  meterRun(run.connection, state, run.counters.entries)
  const end: Ended = Exit.isSuccess(exit)
    ? ended(exit.value)
    : incomplete === undefined
      ? { code: impossible ? 2 : stopped ? 75 : 1 }
      : endOfIncomplete(incomplete)
  const failedBooks = end.failedBooks ?? []
  const summary = {
    counters: run.counters,
    requests: end.requests ?? {},
    ...newest(end.newEntries ?? new Map()),
    failedBooks: failedBooks.slice(0, mostBooks),
    ...(failedBooks.length > mostBooks ? { moreFailedBooks: failedBooks.length - mostBooks } : {}),
    ...(end.partial === true ? { partial: true } : {}),
    ...(end.proved === true ? { proved: true } : {}),
    ...(end.days === undefined ? {} : { days: end.days }),
    ...(end.by === undefined ? {} : { by: end.by }),
  }
  yield* run.conclude(endRun(run.runId, state, end.code, summary, end.whole === true)).pipe(
    Effect.catchTag("LeaseLost", () => Effect.void),
    // The caller gets the run's own outcome; a failure to record it is logged.
    Effect.catchAll((error) =>
      Effect.logWarning(`The end of run ${run.runId} could not be recorded: ${error.message}`),
    ),
  )
})
