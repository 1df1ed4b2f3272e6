/**
 * Clients' books, for a sync or a backfill that another process leads: each is read and its loans are brought up to date under a lease of
 * its own, so that whoever takes the book afterwards leaves nothing for this process to write; those that were read are numbered and
 * proved together.
 */
import { Cause, Deferred, type Duration, Effect, Exit, Option } from "effect"
import type { Book } from "../Book.ts"
import type { DatabaseError } from "../Database/DatabaseError.ts"
import { LockBusy } from "../Database/SessionLock.ts"
import { Database } from "../Database.ts"
import { Ledger } from "../Ledger.ts"
import type { PartnerConnection } from "../Partner.ts"
import { Reconcile } from "../Reconcile.ts"
import { countBooked } from "../Run/Counters.ts"
import { fencedTogether } from "../Run/Lease.ts"
import { type JoinedRun, joinRun, Run } from "../Run.ts"
import type { Settings } from "../Settings.ts"
import { type BookAsked, type BookResult, type BookTask, workOf } from "./Runs/BookJobs.ts"
import { type BookRead, readBook } from "./Runs/BookRead.ts"
import { holdingBooks, holdingBooksAMoment } from "./Runs/ConnectionLock.ts"
import { addedUp } from "./Runs/Counts.ts"
import { noteDead, settleDead, type Work } from "./Runs/DeadJobs.ts"
import type { ReadError } from "./Runs/Failures.ts"
import { runParts } from "./Runs/Parts.ts"
import { bySettings } from "./Runs/Proving.ts"
import { provingTogether } from "./Runs/ProvingTogether.ts"

/** A book that this process has taken. */
interface Held {
  readonly task: BookTask
  readonly own: JoinedRun
}

interface Ready extends Held {
  readonly read: BookRead
}

/** Why nobody can go on with a book: credentials, the database, the lease, another who holds it or the connection. */
export type Failed = ReadError | LockBusy
type Tried = Exit.Exit<void, Failed>

interface Together {
  /** How many books the process reads at once. */
  readonly reading: Effect.Semaphore
  /** How long a book that was read waits at most for those that are being read, to be proved with them. */
  readonly patience: Duration.DurationInput
  /** Part of the last transaction, under the leases of the books: what came of each. */
  readonly keep: (results: ReadonlyArray<Omit<BookResult, "requests">>) => Effect.Effect<void, DatabaseError>
}

const booksOf = (some: ReadonlyArray<{ readonly task: BookTask }>): ReadonlyArray<Book> =>
  some.map(({ task }) => task.book)

export class BookSync extends Effect.Service<BookSync>()("tieout/Sync/BookSync", {
  dependencies: [Ledger.Default, Reconcile.Default],
  effect: Effect.gen(function* () {
    const database = yield* Database
    const reconcile = yield* Reconcile
    const services = yield* Effect.context<Database | Settings | Ledger | Reconcile>()

    const prove = yield* provingTogether

    const underLeasesOf = (books: ReadonlyArray<Held>) =>
      fencedTogether(
        database,
        books.map(({ own }) => own.lease),
      )

    /**
     * Runs an effect that holds the books for a run which another process leads. The leader of a sync keeps others from the
     * connection meanwhile; the leader of a backfill does not, so they wait for its books.
     */
    const taking = <A, E, R>(
      runId: number,
      books: readonly [Book, ...ReadonlyArray<Book>],
      { kind }: Work,
      work: (own: ReadonlyArray<JoinedRun>) => Effect.Effect<A, E, R>,
    ) => {
      const [{ connection }] = books
      return Effect.provide(
        (kind === "backfill" ? holdingBooksAMoment : holdingBooks)(
          database,
          connection,
          books,
          Effect.flatMap(joinRun(runId, connection, books), work).pipe(
            Effect.annotateLogs({ connection, run: runId }),
            Effect.annotateSpans({ connection, run: runId }),
          ),
        ),
        services,
      )
    }

    /** Books that were read: they are numbered and proved, and what came of them is kept. The first one has what all came to. */
    const finish = Effect.fn("Sync.Books.finish")(
      function* (ready: ReadonlyArray<Ready>, asked: BookAsked, { keep }: Together) {
        const [first] = ready
        if (first === undefined) return
        const { runId } = first.own
        const commit = underLeasesOf(ready)
        const whole = ready.filter(({ read }) => read.complete)
        const complete = booksOf(whole)
        const hindered = booksOf(ready.filter(({ read }) => !read.complete))
        // Of a client that is not to be read any more nothing is left to do.
        const isDone = ({ task }: Ready): boolean => task.reads || Option.isSome(task.stopped)
        const done = asked.quick ? [] : booksOf(whole.filter(isDone))
        if (done.length > 0) yield* commit(settleDead(done, workOf(asked)))
        const proved = yield* prove({ runId, commit, full: asked.full, complete, hindered })
        for (const { own, task } of ready) countBooked(own.counters, proved.conversionEntries, task.book)
        const results = ready.map(({ own, read, task: { book } }) => ({
          bookId: book.bookId,
          newEntries: Object.fromEntries(addedUp(own.earlierEntries, read.newEntries)),
          openResources: read.openResources,
          failures: read.failures,
          notices: read.notices,
          counters: own.counters,
          numbered: own === first.own ? proved.numbered : 0,
          findingsOpened: own === first.own ? proved.opened : 0,
          findingsClosed: own === first.own ? proved.closed : 0,
          blockingFindings: proved.blocking.get(book.bookId) ?? 0,
          resettled: read.resettled,
          accounts: read.accounts,
        }))
        yield* commit(
          complete.length === 0
            ? keep(results)
            : Effect.zipRight(reconcile.cover(complete, runId), keep(results)),
        )
      },
      Effect.provideService(Database, database),
    )

    /** Each by itself where it fails for all, so that one whose lease was lost fails alone. */
    const finishEach = (
      ready: ReadonlyArray<Ready>,
      asked: BookAsked,
      together: Together,
    ): Effect.Effect<ReadonlyArray<readonly [Ready, Tried]>> =>
      Effect.flatMap(Effect.exit(finish(ready, asked, together)), (exit) =>
        Exit.isSuccess(exit) || ready.length === 1
          ? Effect.succeed(ready.map((one) => [one, exit] as const))
          : Effect.map(
              Effect.forEach(ready, (one) => finishEach([one], asked, together)),
              (all) => all.flat(),
            ),
      )

    /** Books that are written to have the time zone and the names of the settings first. */
    const follow = (held: ReadonlyArray<Held>, asked: BookAsked) => {
      const written = held.filter(({ task }) => task.reads || asked.settles)
      return bySettings(booksOf(written), underLeasesOf(written))
    }

    /** Reads books that this process has; what came of each, in their order. */
    const readAll = Effect.fn("Sync.Books.read")(function* (
      held: ReadonlyArray<Held>,
      asked: BookAsked,
      together: Together,
    ) {
      const tried = new Map<JoinedRun, Tried>()
      const ready: Array<Ready> = []
      const done = yield* Deferred.make<void>()
      const following = yield* Effect.exit(follow(held, asked))
      const readOne = ({ own, task }: Held) =>
        // Where not all can follow the settings, those that can are read.
        (Exit.isSuccess(following) ? Effect.void : follow([{ own, task }], asked)).pipe(
          Effect.zipRight(readBook(task, asked)),
          Effect.provideService(Run, own),
          Effect.annotateLogs({ book: task.book.code }),
          together.reading.withPermits(1),
          Effect.exit,
          Effect.map(
            Exit.match({
              onFailure: (cause) => void tried.set(own, Exit.failCause(cause)),
              onSuccess: (read) => void ready.push({ own, task, read }),
            }),
          ),
        )
      const reading = Effect.forEach(held, readOne, { concurrency: "unbounded", discard: true })
      const finishing = Effect.gen(function* () {
        for (let isRead = false; !isRead; ) {
          isRead = Option.isSome(yield* Effect.timeoutOption(Deferred.await(done), together.patience))
          for (const [{ own }, exit] of yield* finishEach(ready.splice(0), asked, together))
            tried.set(own, exit)
        }
      })
      yield* Effect.all([Effect.zipRight(reading, Deferred.succeed(done, undefined)), finishing], {
        concurrency: "unbounded",
        discard: true,
      })
      return held.map(({ own }) => tried.get(own) ?? Exit.void)
    })

    /**
     * Takes books of one connection for a run, reads and proves them; how each went, in their order. One fails where nobody can go on
     * with it: credentials, the database, the lease, another who holds it or the connection.
     */
    const run = (
      runId: number,
      asked: BookAsked,
      tasks: ReadonlyArray<BookTask>,
      together: Together,
    ): Effect.Effect<ReadonlyArray<Tried>, never, PartnerConnection> => {
      const [first, ...others] = tasks
      if (first === undefined) return Effect.succeed([])
      const reading = taking(runId, [first.book, ...others.map(({ book }) => book)], workOf(asked), (owns) =>
        readAll(
          tasks.flatMap((task, at) =>
            Option.toArray(Option.fromNullable(owns[at])).map((own) => ({ task, own })),
          ),
          asked,
          together,
        ).pipe(Effect.provide(runParts)),
      )
      return Effect.catchAllCause(reading, (cause) =>
        // Somebody has one of them: the others can be taken.
        others.length > 0 && Option.exists(Cause.failureOption(cause), (error) => error instanceof LockBusy)
          ? Effect.map(
              Effect.forEach(tasks, (task) => run(runId, asked, [task], together), {
                concurrency: "unbounded",
              }),
              (all) => all.flat(),
            )
          : Effect.succeed(tasks.map(() => Exit.failCause(cause))),
      )
    }

    /** The workers give the book up: from then on none of their tries writes anything, and a finding says so. */
    const giveUp = Effect.fn("Sync.Book.giveUp")(function* (
      runId: number,
      asked: BookAsked,
      { book }: BookTask,
      given: { readonly tries: number; readonly why: string },
      keep: (findings: number) => Effect.Effect<void, DatabaseError>,
    ) {
      const doing = workOf(asked)
      const noted = Effect.gen(function* () {
        yield* noteDead(book, doing, runId, given)
        const { opened } = yield* reconcile.recordGivenUp(book, runId)
        yield* keep(opened)
      })
      return yield* taking(runId, [book], doing, (owns) =>
        Effect.forEach(owns, ({ commit }) => commit(noted), { discard: true }),
      )
    })

    return { run, giveUp }
  }),
}) {}
