/**
 * Reads one client's book for a sync or a backfill that another process leads, brings its loans up to date, numbers and proves
 * it, all under a lease of its own: once another process takes the book, this one can write nothing more.
 */
import { Effect, Option } from "effect"
import { type Book, organizationBook } from "../Book.ts"
import type { DatabaseError } from "../Database/DatabaseError.ts"
import { Database } from "../Database.ts"
import { Ledger } from "../Ledger.ts"
import { Partner, PartnerConnection } from "../Partner.ts"
import { Reconcile } from "../Reconcile.ts"
import { type JoinedRun, joinRun, Run } from "../Run.ts"
import type { Settings } from "../Settings.ts"
import type { AccountBackfill } from "./Backfill/BackfilledStatements.ts"
import { backfillPartsOf } from "./Backfill/Parts.ts"
import type { BookAsked, BookResult, BookTask } from "./Runs/BookJobs.ts"
import type { BookOutcome } from "./Runs/BookReader.ts"
import { noteDead, settleDead, type Work } from "./Runs/DeadLetters.ts"
import { noteStopped } from "./Runs/Evidence.ts"
import { aloneOfClient, failureOf, isAbsent } from "./Runs/Failures.ts"
import { holdingBook, holdingBookAMoment } from "./Runs/Holding.ts"
import { runParts, syncPartsOf } from "./Runs/Layers.ts"
import { inTimeZone } from "./Runs/Proving.ts"
import { provingTogether } from "./Runs/ProvingTogether.ts"

const nothing: BookOutcome = { newEntries: new Map(), openResources: 0, failures: [], notices: [] }

interface Read extends BookOutcome {
  readonly complete: boolean
  readonly resettled: number
  readonly accounts: ReadonlyArray<AccountBackfill>
}

const workOf = ({ window }: BookAsked): Work =>
  window === null ? { kind: "sync" } : { kind: "backfill", days: window }

export class BookSync extends Effect.Service<BookSync>()("tieout/Sync/BookSync", {
  dependencies: [Ledger.Default, Reconcile.Default],
  effect: Effect.gen(function* () {
    const database = yield* Database
    const reconcile = yield* Reconcile
    const services = yield* Effect.context<Database | Settings | Ledger | Reconcile>()

    const readBook = Effect.fn("Sync.Book.read")(function* (
      { book, clientId, reads: isRead, stopped }: BookTask,
      { full, quick, settles, window }: BookAsked,
    ) {
      const run = yield* Run
      if (isRead || settles) yield* inTimeZone([book], run.commit)
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
      const complete = outcome.absent || outcome.failures.length === 0
      const organization = yield* organizationBook(book.connection)
      const resettled = complete && settles ? yield* loans.settle(organization, book) : 0
      return { ...outcome, complete, resettled, accounts } satisfies Read
    })

    const prove = yield* provingTogether

    /**
     * Runs an effect that holds the book for a run which another process leads. The leader of a sync keeps others from the
     * connection meanwhile; the leader of a backfill does not, so they wait for its books.
     */
    const taking = <A, E, R>(
      runId: number,
      book: Book,
      { kind }: Work,
      work: (own: JoinedRun) => Effect.Effect<A, E, R>,
    ) =>
      Effect.provide(
        (kind === "backfill" ? holdingBookAMoment : holdingBook)(
          database,
          book,
          Effect.flatMap(joinRun(runId, book), (own) =>
            work(own).pipe(
              Effect.annotateLogs({ connection: book.connection, run: runId, book: book.code }),
              Effect.annotateSpans({ connection: book.connection, run: runId }),
            ),
          ),
        ),
        services,
      )

    /**
     * Fails if no process could go on with the book: credentials, the database, the lease, or another holder of the connection.
     */
    const run = Effect.fn("Sync.Book")(function* (
      runId: number,
      asked: BookAsked,
      task: BookTask,
      /** Records the result as part of the last transaction, under the lease. */
      keep: (result: Omit<BookResult, "requests">) => Effect.Effect<void, DatabaseError>,
    ) {
      const { book } = task
      const doing = workOf(asked)
      return yield* taking(runId, book, doing, (own) =>
        Effect.gen(function* () {
          const read = yield* readBook(task, asked)
          if (read.complete && task.reads && !asked.quick) yield* own.commit(settleDead([book], doing))
          const proved = read.complete
            ? yield* prove(book, own, asked.full)
            : { numbered: 0, ...(yield* reconcile.afterTrouble([book], own)) }
          const result = {
            bookId: book.bookId,
            newEntries: Object.fromEntries(read.newEntries),
            openResources: read.openResources,
            failures: read.failures,
            notices: read.notices,
            counters: own.counters,
            numbered: proved.numbered,
            findingsOpened: proved.opened,
            findingsClosed: proved.closed,
            blockingFindings: proved.blocking,
            resettled: read.resettled,
            accounts: read.accounts,
          }
          yield* own.commit(
            read.complete ? Effect.zipRight(reconcile.cover([book], runId), keep(result)) : keep(result),
          )
        }).pipe(Effect.provide(runParts), Effect.provideService(Run, own)),
      )
    })

    /** The workers give the book up: from then on none of their tries writes anything, and a finding says so. */
    const giveUp = Effect.fn("Sync.Book.giveUp")(function* (
      runId: number,
      asked: BookAsked,
      { book }: BookTask,
      given: { readonly tries: number; readonly why: string },
      keep: (findings: number) => Effect.Effect<void, DatabaseError>,
    ) {
      const doing = workOf(asked)
      return yield* taking(runId, book, doing, (own) =>
        own.commit(
          Effect.gen(function* () {
            yield* noteDead(book, doing, runId, given)
            const { opened } = yield* reconcile.recordGivenUp(book, runId)
            yield* keep(opened)
          }),
        ),
      )
    })

    return { run, giveUp }
  }),
}) {}
