/**
 * Proves the books against what the service reported. Every check is one set-based query over what changed since the
 * last time, or over everything; its findings open, refresh and close themselves.
 */
import { Effect, Option } from "effect"
import { allBooks, type Book } from "./Book.ts"
import { Database } from "./Database.ts"
import { baseExports } from "./Reconcile/BaseExports.ts"
import { baseJournal } from "./Reconcile/BaseJournal.ts"
import { cashBalance } from "./Reconcile/CashBalance.ts"
import { type CheckName, checks } from "./Reconcile/Check.ts"
import { clearingMovement } from "./Reconcile/ClearingMovement.ts"
import { clearingNets } from "./Reconcile/ClearingNets.ts"
import { conflictingEvents } from "./Reconcile/ConflictingEvents.ts"
import { contradiction } from "./Reconcile/Contradiction.ts"
import { conversionRate } from "./Reconcile/ConversionRate.ts"
import { conversionsInTransit } from "./Reconcile/ConversionsInTransit.ts"
import { creditTotals } from "./Reconcile/CreditTotals.ts"
import { exportTotals } from "./Reconcile/ExportTotals.ts"
import { type CheckQuery, record } from "./Reconcile/Findings.ts"
import { missingResource } from "./Reconcile/MissingResource.ts"
import { movementEntries } from "./Reconcile/MovementEntries.ts"
import { openItems } from "./Reconcile/OpenItems.ts"
import { saveProgress, takeBooks } from "./Reconcile/Progress.ts"
import { quarantinedRows } from "./Reconcile/QuarantinedRows.ts"
import { runningBalance } from "./Reconcile/RunningBalance.ts"
import type { Scope } from "./Reconcile/Scope.ts"
import { type OpenFinding, openCounts, openFindings } from "./Reconcile/Summary.ts"
import { suspense } from "./Reconcile/Suspense.ts"
import { together as asOne, bookTieOuts, type TieOut } from "./Reconcile/TieOut.ts"
import { trialBalance } from "./Reconcile/TrialBalance.ts"
import { zeroEntries } from "./Reconcile/ZeroEntries.ts"
import { Settings } from "./Settings.ts"

const queries: ReadonlyArray<CheckQuery> = [
  runningBalance,
  cashBalance,
  movementEntries,
  missingResource,
  suspense,
  zeroEntries,
  conversionRate,
  conversionsInTransit,
  clearingNets,
  clearingMovement,
  openItems,
  creditTotals,
  trialBalance,
  contradiction,
  exportTotals,
  baseExports,
  baseJournal,
  quarantinedRows,
  conflictingEvents,
]

/** Books that are reconciled in one transaction. */
const booksTogether = 500

export interface ReconcileOptions {
  readonly connection: Option.Option<string>
  /** `2026-10`, a month of the accounting time zone: looks at all of it, and tells what happened in it. */
  readonly period: Option.Option<string>
  /** Looks at everything, not only at what changed. */
  readonly full: boolean
}

export interface ReconcileSummary {
  readonly checks: ReadonlyArray<{ readonly name: CheckName; readonly findings: number }>
  readonly opened: number
  readonly closed: number
  /** Everything that is open now, blocking first. */
  readonly findings: ReadonlyArray<OpenFinding>
  readonly quarantined: number
  /** Of all the books as one, whatever the month. */
  readonly tieOut: TieOut
}

/** What reconciling changed, and what is open in the books after it. */
export interface Reconciled {
  readonly opened: number
  readonly closed: number
  readonly blocking: number
  readonly warnings: number
}

interface Looking {
  /** The run that has just read; none: by hand. */
  readonly runId: Option.Option<number>
  readonly full: boolean
  readonly period: Option.Option<string>
}

export class Reconcile extends Effect.Service<Reconcile>()("tieout/Reconcile", {
  effect: Effect.gen(function* () {
    const database = yield* Database
    const settings = yield* Settings
    const { accounting } = settings

    const check = Effect.fn("Reconcile.check")(function* (scope: Scope) {
      let opened = 0
      let closed = 0
      for (const query of queries) {
        const [counts] = yield* database.query(`Reconcile.${query.checks[0]}`, (sql) =>
          record(sql, scope, query),
        )
        opened += Number(counts?.opened ?? 0n)
        closed += Number(counts?.closed ?? 0n)
      }
      return { opened, closed }
    })

    /** After a first sync nothing has told the planner yet how much there is: its plans would be for a handful of rows. */
    const analyze = database.query(
      "Reconcile.analyze",
      (sql) => sql`analyze mirror.statement_entries, mirror.resources`,
    )

    /** A sync's sessions probe indexes only; what follows looks at many rows at once and leaves the choice to the planner. */
    const planFreely = database.query(
      "Reconcile.planFreely",
      (sql) => sql`
        select set_config('enable_seqscan', 'on', true), set_config('enable_hashjoin', 'on', true),
          set_config('enable_mergejoin', 'on', true)`,
    )

    /**
     * Part of the transaction. Everything is read best as a whole; what changed must be reached by index probes alone,
     * however much history lies beside it. The session may be set for either.
     */
    const plan = (everything: boolean) => {
      const whole = everything ? "on" : "off"
      return database.query(
        "Reconcile.plan",
        (sql) => sql`
          select set_config('enable_seqscan', ${whole}, true), set_config('enable_hashjoin', ${whole}, true),
            set_config('enable_mergejoin', ${whole}, true), set_config('jit', 'off', true)`,
      )
    }

    /** One transaction: other readers see the findings of before, or all that follow from this. */
    const together = (books: ReadonlyArray<Book>, { full, period, runId }: Looking) =>
      database.transaction(
        Effect.gen(function* () {
          const total = { opened: 0, closed: 0 }
          yield* planFreely
          for (const stretch of yield* takeBooks(books, runId)) {
            const everything = full || stretch.reconciled === 0 || Option.isSome(period)
            yield* plan(everything)
            if (full || stretch.reconciled === 0) yield* analyze
            const { closed, opened } = yield* check({
              books: stretch.books,
              sinceRun: everything ? null : stretch.reconciled,
              period: full ? null : Option.getOrNull(period),
              full,
              flatWithdrawalFee: accounting.flatWithdrawalFee,
              repaymentAmount: accounting.receivables.repaymentAmount,
              materiality: settings.reconcile.materiality,
              runId: Option.getOrNull(runId),
            })
            total.opened += opened
            total.closed += closed
            // A month alone says nothing about what changed outside it.
            if (full || Option.isNone(period)) yield* saveProgress(stretch)
          }
          return total
        }),
      )

    const all = Effect.fn("Reconcile.books")(function* (books: ReadonlyArray<Book>, looking: Looking) {
      const total = { opened: 0, closed: 0 }
      for (let first = 0; first < books.length; first += booksTogether) {
        const { closed, opened } = yield* together(books.slice(first, first + booksTogether), looking)
        total.opened += opened
        total.closed += closed
      }
      return total
    })

    /** Books that a run has just read, with what is open in them afterwards. Several books share their queries. */
    const afterRun = Effect.fn("Reconcile.afterRun")(
      function* (
        books: ReadonlyArray<Book>,
        { full, runId }: { readonly runId: number; readonly full: boolean },
      ) {
        const changed = yield* all(books, { runId: Option.some(runId), full, period: Option.none() })
        const { blockingFindings, warnings } = yield* openCounts(books)
        return { ...changed, blocking: blockingFindings, warnings } satisfies Reconciled
      },
      Effect.provideService(Database, database),
    )

    /** One book that a run has just read. */
    const book = (of: Book, run: { readonly runId: number; readonly full: boolean }) => afterRun([of], run)

    /** Looks at one month (`2026-10`) of the books by hand; in the caller's transaction, where there is one. */
    const month = Effect.fn("Reconcile.month")(
      (books: ReadonlyArray<Book>, period: string) =>
        all(books, { runId: Option.none(), full: false, period: Option.some(period) }),
      Effect.provideService(Database, database),
    )

    /** What `tieout reconcile` does: all books, or those of one connection. */
    const run = Effect.fn("Reconcile.run")(
      function* ({ connection, full, period }: ReconcileOptions) {
        const books = yield* allBooks(connection)
        const changed = yield* all(books, { runId: Option.none(), full, period })
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
          tieOut: asOne(yield* bookTieOuts(books.map(({ bookId }) => bookId))),
        } satisfies ReconcileSummary
      },
      Effect.provideService(Settings, settings),
      Effect.provideService(Database, database),
    )

    return { book, afterRun, month, run }
  }),
}) {}
