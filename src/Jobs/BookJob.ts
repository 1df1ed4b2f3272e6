/** What a worker does with a job: it reads, numbers and proves the book that the job names, or gives it up. */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { counted } from "../Common/Text.ts"
import { Database } from "../Database.ts"
import { connected } from "../Partner/Connector.ts"
import type { PartnerError } from "../Partner/PartnerError.ts"
import { type Partner, PartnerConnection } from "../Partner.ts"
import { noCounts } from "../Run.ts"
import { Settings, type SettingsError } from "../Settings.ts"
import { BookSync } from "../Sync/BookSync.ts"
import { Events } from "../Sync/Events.ts"
import type { BookResult } from "../Sync/Runs/BookJobs.ts"
import { bookWithEvents, keep, type Open, toDo } from "./BookWork.ts"

const JobData = Schema.Struct({ connection: Schema.String, bookId: Schema.Number })
const decodeJob = Schema.decodeUnknown(JobData)

type Reached = Context.Context<Partner | PartnerConnection>

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

/** What all jobs of this process share; its connections close with the scope. */
export const bookJobs = Effect.gen(function* () {
  const database = yield* Database
  const books = yield* BookSync
  const events = yield* Effect.serviceOption(Events)
  const { reach, sent } = yield* connections

  /** Processes the book's due events. If another process holds the book or the connection, they wait for the next job. */
  const readEvents = Effect.fn("Jobs.events")(function* (bookId: number) {
    if (Option.isNone(events)) return
    const book = yield* bookWithEvents(bookId)
    if (Option.isNone(book)) return
    const partner = yield* reach(book.value.connection)
    yield* events.value.bookRound(book.value).pipe(
      Effect.tap(
        Option.match({
          onNone: () => Effect.void,
          onSome: ({ entries, events: count, failed, runId }) =>
            Effect.annotateLogs(
              Effect.logInfo(
                `${counted(count, "event")} of book ${book.value.code}: ${counted(entries, "new entry", "new entries")}${failed > 0 ? `, ${failed} to be tried again` : ""}.`,
              ),
              { connection: book.value.connection, run: runId },
            ),
        }),
      ),
      Effect.provide(partner),
      Effect.catchTag("LockBusy", () => Effect.void),
      // The events stay in the inbox, which has the time of their next try.
      Effect.catchAll(({ message }) =>
        Effect.logWarning(`Events of book ${book.value.code} wait: ${message}`),
      ),
    )
  })

  const readFor = (connection: string, { asked, runId, task }: Open) =>
    Effect.gen(function* () {
      const partner = yield* reach(connection)
      const reading = books.run(runId, asked, task, (result) =>
        Effect.flatMap(sent(connection, Context.get(partner, PartnerConnection)), (requests) =>
          Effect.provideService(keep(runId, { ...result, requests }), Database, database),
        ),
      )
      const alone = Effect.provide(reading, partner)
      // The leader of a backfill releases the connection to others, and hands the book out again.
      yield* asked.window === null ? alone : Effect.catchTag(alone, "LockBusy", () => Effect.void)
    })

  /**
   * Does everything that is due for the book: its events first, then the work of runs. A failure of one does not stop the
   * other.
   */
  const read = (data: unknown) =>
    Effect.gen(function* () {
      const { bookId, connection } = yield* decodeJob(data)
      yield* readEvents(bookId)
      const tries = yield* Effect.forEach(yield* toDo(bookId), (one) =>
        Effect.either(readFor(connection, one)),
      )
      yield* Effect.all(tries, { discard: true })
    })

  const giveUp = (data: unknown, given: { readonly tries: number; readonly why: string }) =>
    Effect.gen(function* () {
      const { bookId } = yield* decodeJob(data)
      for (const { asked, runId, task } of yield* toDo(bookId)) {
        yield* books.giveUp(runId, asked, task, given, (findings) =>
          Effect.provideService(keep(runId, givenUp(bookId, given.why, findings)), Database, database),
        )
        yield* Effect.logWarning(`Book ${task.book.code} was given up: ${given.why}`)
      }
    })

  return { read, giveUp }
})
