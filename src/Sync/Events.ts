/**
 * Brings the effect of received events into the books: what they name is read again, posted, numbered and reconciled. Many
 * events become one round; a round is a run of its connection, so that it waits for a sync that runs and no event is lost.
 */
import { type Cause, Duration, Effect, Option, Schedule, Stream } from "effect"
import type { Book } from "../Book.ts"
import { errorOf, messageOf } from "../Common/ErrorKind.ts"
import { inOneLine } from "../Common/Text.ts"
import { bool } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { Ledger } from "../Ledger.ts"
import { connected } from "../Partner/Connector.ts"
import { Reconcile } from "../Reconcile.ts"
import { beginBookEvents, beginRun, Run } from "../Run.ts"
import { Settings } from "../Settings.ts"
import { defaultTries, Inbox, triesOfOutage } from "../Webhook/Inbox.ts"
import { isPending } from "../Webhook/InboxDue.ts"
import { EventJobs, handOutEvents } from "./Events/EventJobs.ts"
import { absorbEvents, type Round } from "./Events/EventRound.ts"
import { warnEachMinute } from "./Events/RepeatedWarning.ts"
import { forAMoment, holdingBooksAMoment } from "./Runs/ConnectionLock.ts"
import { areCredentialsRefused, isWaitedFor } from "./Runs/Failures.ts"
import { runParts } from "./Runs/Parts.ts"
import { recordEnd } from "./Runs/Proving.ts"

/** Events that one round takes: what they name is read once for all of them. */
const eventsPerRound = 5_000
/** The time between the beginnings of two rounds; events that arrive meanwhile form one round. */
const gathering = Duration.millis(150)
/** How often to look for events that nothing announces: another process received them, or another try is due. */
const lookAgain = Duration.seconds(2)

/** A failure that no event is the reason of: it ends for all of them at once. */
const isOfNoEvent = (error: unknown): boolean => isWaitedFor(error) || areCredentialsRefused(error)

export class Events extends Effect.Service<Events>()("tieout/Events", {
  dependencies: [Ledger.Default, Reconcile.Default],
  effect: Effect.gen(function* () {
    const settings = yield* Settings
    const database = yield* Database
    const inbox = yield* Inbox
    const services = yield* Effect.context<Database | Settings | Ledger | Reconcile | Inbox>()

    const isWaiting = Effect.fn("Events.isWaiting")(function* (
      connection: string,
      handedTo: "nobody" | undefined,
    ) {
      const { waiting } = yield* database.row(
        "Events.isWaiting",
        { waiting: bool },
        (sql) => sql`
          select exists (
            select 1 from webhook.inbox i
            where i.connection = ${connection} and ${isPending(sql)} and i.next_try_at <= now()
              and (${handedTo === undefined}::boolean or not exists (
                select from sync.book_events e
                where e.connection = i.connection and e.event_id = i.event_id and e.digest = i.digest))) as waiting`,
      )
      return waiting
    })

    /** Takes the due events, if there are any, while the run holds the lease. */
    const takenBy = (
      take: ReturnType<typeof inbox.take>,
      begin: ReturnType<typeof beginRun>,
      connection: string,
      alone: Option.Option<Book>,
    ) =>
      Effect.gen(function* () {
        const taken = yield* database.transaction(
          Effect.gen(function* () {
            const events = yield* take
            return events.length === 0 ? Option.none() : Option.some({ events, run: yield* begin })
          }),
        )
        if (Option.isNone(taken)) return Option.none<Round>()
        const { events, run } = taken.value
        return yield* absorbEvents(connection, events, alone).pipe(
          Effect.asSome,
          Effect.provide(runParts),
          Effect.provideService(Run, run),
          Effect.annotateLogs({ run: run.runId }),
          Effect.annotateSpans({ connection, run: run.runId }),
          // A failure of the whole round is a failed try for each event: it is tried again, each time after a longer wait.
          Effect.tapErrorCause((cause) =>
            run.commit(
              inbox.fail(
                events,
                inOneLine(messageOf(cause)),
                isOfNoEvent(errorOf(cause)) ? triesOfOutage : defaultTries,
              ),
            ),
          ),
          Effect.onExit((exit) =>
            Effect.provide(
              recordEnd(run, exit, () => ({ code: 0 })),
              services,
            ),
          ),
        )
      })

    /** Claims the waiting events of a connection while nothing else of it runs; none where no event waits. */
    const round = Effect.fn("Events.round")(function* (connection: string) {
      yield* inbox.byClock(connection)
      const jobs = yield* EventJobs
      if (Option.isSome(jobs)) yield* Effect.provide(handOutEvents(connection, jobs.value), services)
      const handedTo = Option.isSome(jobs) ? "nobody" : undefined
      if (!(yield* isWaiting(connection, handedTo))) return Option.none<Round>()
      const work = takenBy(
        inbox.take(connection, eventsPerRound, undefined, handedTo),
        beginRun(connection, "events"),
        connection,
        Option.none(),
      )
      return yield* forAMoment(database, connection, work).pipe(Effect.provide(services))
    })

    /** A worker's part: takes the waiting events of a book, beside others at other books; none if nothing waits. */
    const bookRound = Effect.fn("Events.bookRound")(function* (book: Book) {
      const work = takenBy(
        inbox.take(book.connection, eventsPerRound, undefined, book.bookId),
        beginBookEvents(book),
        book.connection,
        Option.some(book),
      )
      return yield* holdingBooksAMoment(database, book.connection, [book], work).pipe(
        Effect.provide(services),
      )
    })

    /**
     * Follows the events of a connection until it is interrupted; calls `onRound` after every round, with the run's log
     * annotations.
     */
    const follow = Effect.fn("Events.follow")(function* (
      connection: string,
      onRound: (round: Round) => Effect.Effect<void>,
    ) {
      const partner = connected({
        ...(yield* settings.connection(connection)),
        limits: settings.limits,
      })
      const warn = warnEachMinute((why) => `Events of ${connection} wait: ${why}`)
      // A defect as well: else the process would live on, and acknowledge events that nobody follows any more.
      const waits = (cause: Cause.Cause<unknown>) => warn({ message: messageOf(cause) })
      const rounds = round(connection).pipe(
        Effect.tap(
          Option.match({
            onNone: () => Effect.void,
            onSome: (done) => Effect.annotateLogs(onRound(done), { run: done.runId }),
          }),
        ),
        Effect.repeat({ while: Option.isSome }),
        Effect.catchAllCause(waits),
      )
      const announced = inbox.arrivals.pipe(
        Stream.filter((name) => name === connection),
        Stream.as(undefined),
      )
      const regularly = Stream.fromSchedule(Schedule.spaced(lookAgain)).pipe(Stream.as(undefined))
      // Makes events due at once that a vanished process had taken; no other process works at any while this one holds the
      // connection.
      yield* forAMoment(database, connection, inbox.release(connection)).pipe(Effect.catchAllCause(waits))
      // A burst counts as one announcement. A single event after a pause is not delayed, nor is one after a look that found
      // nothing.
      const bursts = announced.pipe(
        Stream.throttle({ cost: () => 1, units: 1, duration: gathering, strategy: "shape" }),
      )
      yield* Stream.merge(bursts, regularly).pipe(
        Stream.buffer({ capacity: 1, strategy: "sliding" }),
        Stream.runForEach(() => rounds),
        Effect.provide(partner),
      )
    })

    return { round, bookRound, follow }
  }),
}) {}
