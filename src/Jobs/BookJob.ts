/** What a worker does with jobs: it reads, numbers and proves the books that the jobs name, or gives them up. */
import {
  Array as Arr,
  Cause,
  Context,
  type Duration,
  Effect,
  Exit,
  Layer,
  Option,
  type ParseResult,
  Schema,
} from "effect"
import type { Book } from "../Book.ts"
import { count, counted } from "../Common/Text.ts"
import { DatabaseError } from "../Database/DatabaseError.ts"
import { Database } from "../Database.ts"
import { connected } from "../Partner/Connector.ts"
import type { PartnerError } from "../Partner/PartnerError.ts"
import { type Partner, PartnerConnection } from "../Partner.ts"
import { noCounts } from "../Run/Counters.ts"
import { LeaseLost } from "../Run/Lease.ts"
import { Settings, type SettingsError } from "../Settings.ts"
import { BookSync, type Failed } from "../Sync/BookSync.ts"
import { Events } from "../Sync/Events.ts"
import type { BookResult } from "../Sync/Runs/BookJobs.ts"
import { booksWithEvents, hasEnded, keep, type Open, toDo } from "./BookWork.ts"

const JobData = Schema.Struct({ connection: Schema.String, bookId: Schema.Number })
const decodeJob = Schema.decodeUnknown(JobData)

type Reached = Context.Context<Partner | PartnerConnection>

type Outcome = Exit.Exit<void, Failed | ParseResult.ParseError>

const isBusy = (exit: Exit.Exit<void, Failed>): boolean =>
  Exit.isFailure(exit) && Option.exists(Cause.failureOption(exit.cause), ({ _tag }) => _tag === "LockBusy")

/** By a later run; or the run has ended, after which nothing is evidence of it (TO004). */
const isOvertaken = (exit: Exit.Exit<void, Failed>): boolean =>
  Exit.isFailure(exit) &&
  Option.exists(
    Cause.failureOption(exit.cause),
    (error) => error instanceof LeaseLost || (error instanceof DatabaseError && error.sqlstate === "TO004"),
  )

/** A book that was given up: the process that leads the run names it among those that could not be read. */
const givenUp = (bookId: number, why: string, findings: number): BookResult => ({
  bookId,
  newEntries: {},
  openResources: 0,
  failures: [{ unread: { kind: "book" }, why, stopped: false, passing: true }],
  notices: [],
  counters: noCounts(),
  requests: {},
  numbered: 0,
  findingsOpened: findings,
  findingsClosed: 0,
  blockingFindings: findings,
  resettled: 0,
  accounts: [],
})

/** Each connection's client is built once, at the pace that all processes share; each request is counted once. */
const connections = Effect.gen(function* () {
  const settings = yield* Settings
  const scope = yield* Effect.scope
  const one = yield* Effect.makeSemaphore(1)
  const reached = new Map<string, Reached>()
  const counted = new Map<string, ReadonlyMap<string, number>>()

  const reach = (name: string): Effect.Effect<Reached, PartnerError | SettingsError> =>
    one.withPermits(1)(
      Effect.gen(function* () {
        const known = reached.get(name)
        if (known !== undefined) return known
        const connection = yield* settings.connection(name)
        const made = yield* Layer.buildWithScope(connected({ ...connection, limits: settings.limits }), scope)
        reached.set(name, made)
        return made
      }),
    )

  /** The requests sent since the last call. */
  const sent = (name: string, partner: Context.Tag.Service<PartnerConnection>) =>
    Effect.map(partner.requests, (now) => {
      const before = counted.get(name) ?? new Map<string, number>()
      counted.set(name, now)
      return Object.fromEntries([...now].map(([kind, count]) => [kind, count - (before.get(kind) ?? 0)]))
    })

  return { reach, sent }
})

/**
 * What all jobs of this process share; it reads at most `concurrency` books at once, and a book that was read waits for others no longer
 * than `patience` to be proved with them. Its connections close with the scope.
 */
export const bookJobs = (concurrency: number, patience: Duration.DurationInput = "20 seconds") =>
  Effect.gen(function* () {
    const database = yield* Database
    const books = yield* BookSync
    const events = yield* Effect.serviceOption(Events)
    const reading = yield* Effect.makeSemaphore(concurrency)
    const { reach, sent } = yield* connections

    /**
     * Processes the book's due events. If another process holds the book or the connection, they wait for the next job. Fails where
     * this worker does not reach the connection; another may.
     */
    const readEvents = Effect.fn("Jobs.events")(function* (book: Book) {
      if (Option.isNone(events)) return
      const partner = yield* reach(book.connection)
      yield* events.value.bookRound(book).pipe(
        Effect.tap(
          Option.match({
            onNone: () => Effect.void,
            onSome: ({ entries, events, failed, runId }) =>
              Effect.annotateLogs(
                Effect.logInfo(
                  `${counted(events, "event")} of book ${book.code}: ${counted(entries, "new entry", "new entries")}${failed > 0 ? `, ${count(failed)} to be tried again` : ""}.`,
                ),
                { connection: book.connection, run: runId },
              ),
          }),
        ),
        Effect.provide(partner),
        Effect.catchTag("LockBusy", () => Effect.void),
        // The events stay in the inbox, which has the time of their next try.
        Effect.catchAll(({ message }) => Effect.logWarning(`Events of book ${book.code} wait: ${message}`)),
      )
    })

    /** Reads books for one run of one connection. Returns the outcome of each, in their order. */
    const readFor = (all: Arr.NonEmptyReadonlyArray<Open>) =>
      Effect.gen(function* () {
        const [first] = all
        const { asked, runId } = first
        const { connection } = first.task.book
        const partner = yield* reach(connection)
        const tasks = all.map(({ task }) => task)
        const tried = yield* books
          .run(runId, asked, tasks, {
            ...{ patience, reading },
            keep: (results) =>
              Effect.flatMap(sent(connection, Context.get(partner, PartnerConnection)), (requests) =>
                Effect.provideService(
                  keep(
                    runId,
                    results.map((result, at) => ({ ...result, requests: at === 0 ? requests : {} })),
                  ),
                  Database,
                  database,
                ),
              ),
          })
          .pipe(Effect.provide(partner))
        const overtaken = tried.filter(isOvertaken).length
        if (overtaken > 0 && (yield* hasEnded(runId))) {
          yield* Effect.annotateLogs(
            Effect.logInfo(
              `The run ended before ${counted(overtaken, "book")} of it ${overtaken === 1 ? "was" : "were"} done; the next one hands out what is due.`,
            ),
            { connection, run: runId },
          )
          return tried.map((exit) => (isOvertaken(exit) ? Exit.void : exit))
        }
        // The leader of a backfill releases the connection to others, and hands the book out again.
        return asked.window === null ? tried : tried.map((exit) => (isBusy(exit) ? Exit.void : exit))
      })

    /**
     * Does everything that is due for the books: their events first, then the work of runs. Returns the outcome of each job, in
     * their order; the failure of one does not stop the others.
     */
    const read = Effect.fn("Jobs.read")(function* (jobs: ReadonlyArray<unknown>) {
      const named = yield* Effect.forEach(jobs, (data) => Effect.exit(decodeJob(data)))
      const ids = named.flatMap((exit) => (Exit.isSuccess(exit) ? [exit.value.bookId] : []))
      const failed = new Map<number, Exit.Exit<void, Failed>>()
      yield* Effect.forEach(
        yield* booksWithEvents(ids),
        (book) =>
          Effect.map(Effect.exit(reading.withPermits(1)(readEvents(book))), (exit) => {
            if (Exit.isFailure(exit)) failed.set(book.bookId, exit)
          }),
        { concurrency: "unbounded", discard: true },
      )
      const open = yield* toDo(ids)
      for (const same of Arr.isNonEmptyReadonlyArray(open)
        ? Arr.groupWith(open, (one, next) => one.runId === next.runId)
        : []) {
        const tried = yield* Effect.exit(readFor(same))
        same.forEach(({ task: { book } }, at) => {
          const exit = Exit.flatMap(tried, (all) => all[at] ?? Exit.void)
          if (Exit.isFailure(exit) && !failed.has(book.bookId)) failed.set(book.bookId, exit)
        })
      }
      return named.map(
        (exit): Outcome => Exit.flatMap(exit, ({ bookId }): Outcome => failed.get(bookId) ?? Exit.void),
      )
    })

    const giveUp = (data: unknown, given: { readonly tries: number; readonly why: string }) =>
      Effect.gen(function* () {
        const { bookId } = yield* decodeJob(data)
        for (const { asked, runId, task } of yield* toDo([bookId])) {
          yield* books.giveUp(runId, asked, task, given, (findings) =>
            Effect.provideService(keep(runId, [givenUp(bookId, given.why, findings)]), Database, database),
          )
          yield* Effect.logWarning(`Book ${task.book.code} was given up: ${given.why}`)
        }
      })

    return { read, giveUp }
  })
