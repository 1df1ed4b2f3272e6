/**
 * Proves the books against what the service reported. Every check is one set-based query over what changed since the last
 * reconciliation, or over everything; its findings open, refresh and close by themselves.
 */
import { Effect, Option } from "effect"
import { refuseAhead } from "./Book/Ahead.ts"
import { chooseBooks } from "./Book/ChosenBooks.ts"
import { allBooks, type Book } from "./Book.ts"
import { Database } from "./Database.ts"
import { type CheckName, checks } from "./Reconcile/Check.ts"
import { deadLetters } from "./Reconcile/Checks/DeadLetters.ts"
import { gone } from "./Reconcile/Checks/Gone.ts"
import { missingResource } from "./Reconcile/Checks/MissingResource.ts"
import { streams } from "./Reconcile/Checks/Streams.ts"
import { suspense } from "./Reconcile/Checks/Suspense.ts"
import type { CheckQuery } from "./Reconcile/Findings.ts"
import { coverRun, takeBooks } from "./Reconcile/ReconcileProgress.ts"
import { type Extent, type ReadingRun, reconciler } from "./Reconcile/Reconciler.ts"
import { settingsDigest, settingsScope } from "./Reconcile/ReconcileScope.ts"
import { type OpenFinding, openCounts, openFindings } from "./Reconcile/Summary.ts"
import { bookTieOuts, combined, type TieOut } from "./Reconcile/TieOut.ts"
import { type NotRead, notReadBySync } from "./Reconcile/Unread.ts"
import { LeaseLost } from "./Run/Lease.ts"
import { Settings } from "./Settings.ts"

export interface ReconcileOptions {
  readonly connection: Option.Option<string>
  /** A book's code or its client's identifier; all of the connection when absent or none. */
  readonly book?: Option.Option<string>
  /** `2026-10`, a month of the accounting time zone: checks all of it, and lists the findings of that month. */
  readonly period: Option.Option<string>
  /** Checks everything, not only what changed. */
  readonly full: boolean
}

export interface ReconcileSummary {
  readonly checks: ReadonlyArray<{ readonly name: CheckName; readonly findings: number }>
  readonly opened: number
  readonly closed: number
  /** Everything that is open now, blocking first. */
  readonly findings: ReadonlyArray<OpenFinding>
  readonly quarantined: number
  /** All books combined, whatever the month. */
  readonly tieOut: TieOut
  /** What the last sync left out, whatever the month. */
  readonly notRead: ReadonlyArray<NotRead>
}

/** The findings that a reconciliation opened and closed, and the open ones afterwards. */
export interface Reconciled {
  readonly opened: number
  readonly closed: number
  readonly blocking: number
  readonly warnings: number
}

/** Outside a run there is no lease to lose. */
const withoutLease = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.catchIf(
    effect,
    (error): error is E & LeaseLost => error instanceof LeaseLost,
    (lost) => Effect.die(lost),
  )

/**
 * Checks whose findings hold however little of a book was read: streams that the service does not serve, and entries in
 * suspense.
 */
const certainChecks: ReadonlyArray<CheckQuery> = [missingResource, suspense, streams, gone]

export class Reconcile extends Effect.Service<Reconcile>()("tieout/Reconcile", {
  effect: Effect.gen(function* () {
    const database = yield* Database
    const settings = yield* Settings
    const common = settingsScope(settings)
    const digest = settingsDigest(common)

    const { check, reconcileBooks } = reconciler(database, common, digest)

    const withOpenCounts = Effect.fn("Reconcile.withOpenCounts")(function* (
      books: ReadonlyArray<Book>,
      extent: Extent,
    ) {
      const changed = yield* reconcileBooks(books, extent)
      const { blockingFindings, warnings } = yield* openCounts(books)
      return { ...changed, blocking: blockingFindings, warnings } satisfies Reconciled
    })

    /** Reconciles books that a run has just read. Several books share their queries. */
    const afterRun = Effect.fn("Reconcile.afterRun")(
      function* (books: ReadonlyArray<Book>, { full, ...run }: ReadingRun & { readonly full: boolean }) {
        return yield* withOpenCounts(books, { run: Option.some(run), full, period: Option.none() })
      },
      Effect.provideService(Database, database),
    )

    /**
     * Runs, for books that a run could not read to their end, the checks whose findings are certain all the same, above all
     * those about refusals. The others are left to the run that reads the books.
     */
    const afterTrouble = Effect.fn("Reconcile.afterTrouble")(
      function* (books: ReadonlyArray<Book>, reading: ReadingRun) {
        if (books.length === 0) return { opened: 0, closed: 0, blocking: 0, warnings: 0 } satisfies Reconciled
        const run = Option.some({ ...reading, isShared: true })
        return yield* withOpenCounts(books, { run, full: false, period: Option.none(), only: certainChecks })
      },
      Effect.provideService(Database, database),
    )

    /** Reconciles one month (`2026-10`) of the books outside a run; in the caller's transaction, where there is one. */
    const month = Effect.fn("Reconcile.month")(
      (books: ReadonlyArray<Book>, period: string) =>
        reconcileBooks(books, { run: Option.none(), full: false, period: Option.some(period) }),
      withoutLease,
      Effect.provideService(Database, database),
    )

    /**
     * Reconciles a month that is about to be closed, and before it what a stopped run has booked and did not prove: that may be dated to
     * the month and have happened in another one. Nothing waits for the next run. Part of the caller's transaction.
     */
    const monthForClose = Effect.fn("Reconcile.monthForClose")(
      function* (books: ReadonlyArray<Book>, closing: string) {
        const extent = { run: Option.none(), full: false, closing }
        yield* reconcileBooks(books, { ...extent, period: Option.none() })
        return yield* reconcileBooks(books, { ...extent, period: Option.some(closing) })
      },
      withoutLease,
      Effect.provideService(Database, database),
    )

    /** Runs one check of the books for a month that is about to be closed; in the caller's transaction. */
    const checkForClose = Effect.fn("Reconcile.checkForClose")(
      function* (books: ReadonlyArray<Book>, period: string, query: CheckQuery) {
        yield* takeBooks(books, Option.none(), digest)
        const ids = books.map(({ bookId }) => bookId)
        return yield* check(
          { ...common, books: ids, sinceRun: null, period, full: false, runId: null, closing: period },
          [query],
        )
      },
      Effect.provideService(Database, database),
    )

    /** Records at once, as a finding, that the workers gave a book up. Part of the run's transaction. */
    const recordGivenUp = Effect.fn("Reconcile.recordGivenUp")(
      function* (book: Book, runId: number) {
        yield* takeBooks([book], Option.some(runId), digest, true)
        const books = [book.bookId]
        return yield* check({ ...common, books, sinceRun: null, period: null, full: false, runId }, [
          deadLetters,
        ])
      },
      Effect.provideService(Database, database),
    )

    /** Checks the evidence of the books' streams for a month that is about to be closed; in the caller's transaction. */
    const streamsForClose = (books: ReadonlyArray<Book>, period: string) =>
      checkForClose(books, period, streams)

    /** `tieout reconcile`: all books, or those of one connection. Fails with `AheadError` where the month lies ahead for all. */
    const run = Effect.fn("Reconcile.run")(
      function* ({ book = Option.none(), connection, full, period }: ReconcileOptions) {
        const chosen = yield* chooseBooks(connection, book)
        // Includes books without accounts, which may have receivables.
        const books = Option.isNone(book) ? yield* allBooks(connection) : chosen
        const ids = books.map(({ bookId }) => bookId)
        if (Option.isSome(period)) yield* refuseAhead(ids, period.value)
        const changed = yield* reconcileBooks(books, { run: Option.none(), full, period })
        const findings = yield* openFindings(books, period)
        const { quarantined } = yield* openCounts(books)
        return {
          checks: checks.map(({ name }) => ({
            name,
            findings: findings.filter((finding) => finding.check === name).length,
          })),
          ...changed,
          findings,
          quarantined,
          tieOut: combined(yield* bookTieOuts(ids)),
          notRead: yield* notReadBySync(books),
        } satisfies ReconcileSummary
      },
      withoutLease,
      Effect.provideService(Settings, settings),
      Effect.provideService(Database, database),
    )

    /** Part of the transaction that ends these books' part of a shared run, after they were reconciled. */
    const cover = (books: ReadonlyArray<Book>, runId: number) =>
      Effect.provideService(coverRun(books, runId), Database, database)

    return {
      afterRun,
      afterTrouble,
      cover,
      month,
      monthForClose,
      checkForClose,
      streamsForClose,
      recordGivenUp,
      run,
    }
  }),
}) {}
