/** Reads one book of a client for a run that another process may lead, and brings its loans up to date. */
import { Effect, Option } from "effect"
import { organizationBook } from "../../Book.ts"
import { Partner, PartnerConnection } from "../../Partner.ts"
import { Run } from "../../Run.ts"
import type { AccountBackfill } from "../Backfill/BackfilledStatements.ts"
import { backfillPartsOf } from "../Backfill/Parts.ts"
import type { BookAsked, BookTask } from "./BookJobs.ts"
import type { BookOutcome } from "./BookReader.ts"
import { noteStopped } from "./Evidence.ts"
import { aloneOfClient, failureOf, isAbsent } from "./Failures.ts"
import { syncPartsOf } from "./Parts.ts"
import { hinders } from "./RunReport.ts"

const nothing: BookOutcome = { newEntries: new Map(), openResources: 0, failures: [], notices: [] }

/** What reading a book came to. */
export interface BookRead extends BookOutcome {
  readonly complete: boolean
  readonly resettled: number
  readonly accounts: ReadonlyArray<AccountBackfill>
}

/** Reads a book that this process has, or leaves that out where it was read already, and brings its loans up to date. */
export const readBook = Effect.fn("Sync.Book.read")(function* (
  { book, clientId, reads: isRead, stopped }: BookTask,
  { full, quick, settles, window }: BookAsked,
) {
  const run = yield* Run
  if (Option.isSome(stopped)) yield* run.commit(noteStopped(book, stopped.value))
  const partner = yield* PartnerConnection
  const reads = Partner.of({ ...partner.client(clientId), requests: partner.requests })
  const accounts: Array<AccountBackfill> = []
  // The holder of the book need not take turns.
  const again = Option.map(Option.fromNullable(window), (wanted) =>
    backfillPartsOf({ window: wanted, exclusively: (effect) => effect, results: accounts }),
  )
  const { loans, read } = yield* Option.getOrElse(again, () => syncPartsOf(full, quick))(reads)
  const outcome = yield* Effect.if(isRead, {
    onTrue: () => read(book),
    onFalse: () => Effect.succeed(nothing),
  }).pipe(
    Effect.map((found: BookOutcome) => ({ ...found, absent: false })),
    aloneOfClient((error) => ({
      ...nothing,
      failures: [failureOf({ kind: "book" }, error)],
      absent: isAbsent(error),
    })),
  )
  // A client that the service does not serve is a finding; what was read of it before is numbered and proved.
  const complete = outcome.absent || !outcome.failures.some(hinders)
  const resettled =
    complete && settles ? yield* loans.settle(yield* organizationBook(book.connection), book) : 0
  return { ...outcome, complete, resettled, accounts } satisfies BookRead
})
