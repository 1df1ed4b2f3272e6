/**
 * Numbers and proves books that a worker has read. The checks of one book cost nearly as much as those of fifty, for most of it is
 * planning: books that are ready while others are being proved are therefore proved together next, as in a group commit.
 * One that is ready alone waits for nobody.
 */
import { Deferred, Effect } from "effect"
import type { Book } from "../../Book.ts"
import type { DatabaseError } from "../../Database/DatabaseError.ts"
import { Database } from "../../Database.ts"
import { Ledger } from "../../Ledger.ts"
import { openCountsOf } from "../../Reconcile/Summary.ts"
import { Reconcile } from "../../Reconcile.ts"
import { fencedTogether, type LeaseLost } from "../../Run/Lease.ts"
import type { JoinedRun } from "../../Run.ts"

/** What numbering and proving a book came to. Of books that were proved together, the first one has what they opened, closed and numbered. */
export interface ProvedBook {
  readonly numbered: number
  readonly opened: number
  readonly closed: number
  /** Open findings of the book that block its close. */
  readonly blocking: number
}

type Failed = DatabaseError | LeaseLost

interface Ready {
  readonly book: Book
  readonly run: JoinedRun
  readonly full: boolean
  readonly proved: Deferred.Deferred<ProvedBook, Failed>
}

/** Few enough that their checks are planned like those of one book, and that a failing book delays few others. */
const booksTogether = 50

/** The proofs of this process, one at a time. */
export const provingTogether = Effect.gen(function* () {
  const database = yield* Database
  const ledger = yield* Ledger
  const reconcile = yield* Reconcile
  const turn = yield* Effect.makeSemaphore(1)
  /** Books that wait for their proof, and those under way. */
  const ready = new Set<Ready>()

  const proveAll = Effect.fn("Sync.Book.prove")(function* (first: Ready, some: ReadonlyArray<Ready>) {
    const { runId } = first.run
    const books = some.map(({ book }) => book)
    const commit = fencedTogether(
      database,
      some.map(({ run }) => run.lease),
    )
    const numbered = yield* commit(ledger.assignNumbers(books, runId))
    // Another try at a book in the same run may read more, which also has to be checked: so only the end of the work covers the
    // run.
    const found = yield* reconcile.afterRun(books, { runId, commit, full: first.full, isShared: true })
    const open = yield* openCountsOf(books)
    return some.map(({ book, proved }, at) => {
      const own =
        at === 0
          ? { numbered, opened: found.opened, closed: found.closed }
          : { numbered: 0, opened: 0, closed: 0 }
      return {
        proved,
        result: { ...own, blocking: open.get(book.bookId)?.blockingFindings ?? 0 } satisfies ProvedBook,
      }
    })
  })

  /** Proves them together or, if that fails, each by itself, so that a book whose lease was lost fails alone. */
  const proveEach = (some: ReadonlyArray<Ready>): Effect.Effect<void> => {
    const [first, ...others] = some
    if (first === undefined) return Effect.void
    return Effect.matchCauseEffect(Effect.provideService(proveAll(first, some), Database, database), {
      onFailure: (cause) =>
        others.length === 0
          ? Effect.asVoid(Deferred.failCause(first.proved, cause))
          : Effect.forEach(some, (one) => proveEach([one]), { discard: true }),
      onSuccess: (all) =>
        Effect.forEach(all, ({ proved, result }) => Deferred.succeed(proved, result), { discard: true }),
    })
  }

  /** Proves the book, and with it those that wait. Where this is interrupted, they wait for the next turn. */
  const next = (one: Ready) =>
    Effect.gen(function* () {
      const waiting = yield* Effect.filter(ready, ({ proved }) => Effect.negate(Deferred.isDone(proved)))
      if (!waiting.includes(one)) return
      const fitting = waiting.filter(
        (other) => other !== one && other.run.runId === one.run.runId && other.full === one.full,
      )
      yield* proveEach([one, ...fitting].slice(0, booksTogether))
    })

  /** Proves a book that this process holds and has read. */
  return Effect.fnUntraced(function* (book: Book, run: JoinedRun, full: boolean) {
    const proved = yield* Deferred.make<ProvedBook, Failed>()
    const one: Ready = { book, run, full, proved }
    const proving = turn.withPermits(1)(next(one))
    yield* Effect.acquireUseRelease(
      Effect.sync(() => ready.add(one)),
      () => proving,
      () => Effect.sync(() => ready.delete(one)),
    )
    return yield* Deferred.await(proved)
  })
})
