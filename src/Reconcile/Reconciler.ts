/** Runs the checks over books, a stretch of books at a time, and records what they find. */
import { Effect, Option } from "effect"
import type { Book } from "../Book.ts"
import { inStage } from "../Common/Progress.ts"
import type { Database } from "../Database.ts"
import type { Commit } from "../Run/Lease.ts"
import { queries } from "./Checks.ts"
import { type CheckQuery, record, recordedColumns } from "./Findings.ts"
import { analyze, manyEntries, plan, planFreely } from "./Planning.ts"
import { saveProgress, takeBooks } from "./ReconcileProgress.ts"
import type { Scope, settingsScope } from "./ReconcileScope.ts"
import { signsOf } from "./Signs.ts"

/** Books reconciled in one transaction. */
const booksPerTransaction = 500

/** The run that a reconciliation follows. */
export interface ReadingRun {
  readonly runId: number
  readonly commit: Commit
  /** The number of statement entries that the run has brought. */
  readonly counters?: { readonly entries: number }
  /** Other processes take part in the run: what they may yet read is not covered before `cover`. */
  readonly isShared?: boolean
}

export interface Extent {
  /** The run that has just read, and whose fence the findings pass; none outside a run. */
  readonly run: Option.Option<ReadingRun>
  readonly full: boolean
  readonly period: Option.Option<string>
  /** The month that is about to be closed; absent: none. */
  readonly closing?: string | null
  /** Only these checks, after which the books do not count as reconciled. Absent: all. */
  readonly only?: ReadonlyArray<CheckQuery>
}

/** `common` and `digest` are what the findings depend on of the settings. */
export const reconciler = (database: Database, common: ReturnType<typeof settingsScope>, digest: string) => {
  const check = Effect.fn("Reconcile.check")(function* (
    scope: Scope,
    selected: ReadonlyArray<CheckQuery> = queries,
  ) {
    let opened = 0
    let closed = 0
    for (const [at, query] of selected.entries()) {
      const [name] = query.checks
      const counts = yield* database
        .row(`Reconcile.${name}`, recordedColumns, (sql) => record(sql, scope, query))
        .pipe(inStage("reconcile", () => `check ${at + 1} of ${selected.length}, ${name}`))
      opened += Number(counts.opened)
      closed += Number(counts.closed)
    }
    return { opened, closed }
  })

  /** The checks that may open or close a finding, given what is in the books. */
  const worthRunning = Effect.fn("Reconcile.worthRunning")(function* (scope: Scope) {
    const { open, signs } = yield* signsOf(scope)
    return queries.filter(({ checks: names, covered, mayFind }) => {
      if (mayFind === undefined || mayFind(signs)) return true
      // When only changes are checked, such a check closes only findings that its own inputs cover.
      const mayClose = covered === undefined || scope.sinceRun === null
      return mayClose && names.some((name) => open.has(name))
    })
  })

  /**
   * One transaction: other readers see either the old findings or all the new ones. The transaction of a run goes through its
   * fence, so that a run that was overtaken records nothing. Outside a run there is no lease to lose: the transaction owns
   * each book from `takeBooks` on, and does not see what a run under way has yet to commit.
   */
  const reconcileChunk = (
    books: ReadonlyArray<Book>,
    { closing = null, full, only, period, run }: Extent,
  ) => {
    const runId = Option.map(run, (reading) => reading.runId)
    const isShared = Option.exists(run, (reading) => reading.isShared === true)
    const commit: Commit = Option.match(run, {
      onNone: () => (effect) => database.transaction(effect),
      onSome: (reading) => reading.commit,
    })
    return commit(
      Effect.gen(function* () {
        const total = { opened: 0, closed: 0 }
        yield* planFreely(database)
        for (const stretch of yield* takeBooks(books, runId, digest, isShared)) {
          const everything = full || stretch.reconciled === 0 || Option.isSome(period)
          yield* plan(database, everything)
          const brought = Option.match(run, {
            onNone: () => 0,
            onSome: ({ counters }) => counters?.entries ?? 0,
          })
          if (full || stretch.reconciled === 0 || brought >= manyEntries) {
            yield* analyze(database, stretch.books)
          }
          const scope: Scope = {
            ...common,
            books: stretch.books,
            sinceRun: everything ? null : stretch.reconciled,
            period: full ? null : Option.getOrNull(period),
            full,
            closing,
            runId: Option.getOrNull(runId),
          }
          // A person who asks gets every check, and so does a sync of everything; a close does for its month.
          const isSparing = Option.isSome(run) || (closing !== null && Option.isNone(period))
          const worth = isSparing && !full ? yield* worthRunning(scope) : queries
          const selected = only === undefined ? worth : worth.filter((query) => only.includes(query))
          const { closed, opened } = yield* check(scope, selected)
          total.opened += opened
          total.closed += closed
          // A reconciliation of one month does not cover changes outside it.
          if (only === undefined && (full || Option.isNone(period))) yield* saveProgress(stretch, digest)
        }
        return total
      }),
    )
  }

  const reconcileBooks = Effect.fn("Reconcile.books")(function* (books: ReadonlyArray<Book>, extent: Extent) {
    const total = { opened: 0, closed: 0 }
    for (let first = 0; first < books.length; first += booksPerTransaction) {
      const { closed, opened } = yield* reconcileChunk(
        books.slice(first, first + booksPerTransaction),
        extent,
      )
      total.opened += opened
      total.closed += closed
    }
    return total
  })

  return { check, reconcileBooks }
}
