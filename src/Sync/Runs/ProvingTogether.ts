/**
 * Numbers and proves books that a worker holds and has read, under the leases of all of them: the checks of one book cost nearly as much
 * as those of fifty, for most of it is planning.
 */
import { Effect } from "effect"
import type { Book } from "../../Book.ts"
import { Database } from "../../Database.ts"
import { Ledger, type Numbered, noneNumbered } from "../../Ledger.ts"
import { openCountsOf } from "../../Reconcile/Summary.ts"
import { Reconcile } from "../../Reconcile.ts"
import type { Commit } from "../../Run/Lease.ts"

export interface ReadBooks {
  readonly runId: number
  /** Under the leases of all the books. */
  readonly commit: Commit
  readonly full: boolean
  /** Read to their end. */
  readonly complete: ReadonlyArray<Book>
  /** The others, of which only what is certain is looked at. */
  readonly hindered: ReadonlyArray<Book>
}

/** What numbering and proving books came to. */
export interface ProvedBooks extends Numbered {
  readonly opened: number
  readonly closed: number
  /** By book, its open findings that block its close. */
  readonly blocking: ReadonlyMap<number, number>
}

export const provingTogether = Effect.gen(function* () {
  const database = yield* Database
  const ledger = yield* Ledger
  const reconcile = yield* Reconcile
  /** One at a time in this process: they find the plans of the one before in its session. */
  const turn = yield* Effect.makeSemaphore(1)

  return Effect.fn("Sync.Books.prove")(
    function* ({ commit, complete, full, hindered, runId }: ReadBooks) {
      const numbered =
        complete.length === 0 ? noneNumbered : yield* commit(ledger.assignNumbers(complete, runId))
      // What another try at a book reads in the same run has to be looked at as well: only who ends the work covers the run.
      const found = yield* reconcile.afterRun(complete, { runId, commit, full, isShared: true })
      const troubled = yield* reconcile.afterTrouble(hindered, { runId, commit })
      const open = yield* openCountsOf([...complete, ...hindered])
      return {
        ...numbered,
        opened: found.opened + troubled.opened,
        closed: found.closed + troubled.closed,
        blocking: new Map([...open].map(([bookId, { blockingFindings }]) => [bookId, blockingFindings])),
      } satisfies ProvedBooks
    },
    Effect.provideService(Database, database),
    turn.withPermits(1),
  )
})
