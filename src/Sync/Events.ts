/**
 * Brings the effect of received events into the books: what they name is read again, posted, numbered and reconciled. Many
 * events become one round; a round is a run of its connection, so that it waits for a sync that runs and no event is lost.
 */
import { type Context, Duration, Effect, Layer, Option, Schedule, Stream } from "effect"
import { allBooks, type Book, organizationBook } from "../Book.ts"
import { bool } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { Ledger } from "../Ledger.ts"
import { connected } from "../Partner/Connector.ts"
import { Partner, PartnerConnection } from "../Partner.ts"
import { Reconcile } from "../Reconcile.ts"
import { beginBookEvents, beginRun, Run } from "../Run.ts"
import { Settings } from "../Settings.ts"
import { Inbox, type WaitingEvent } from "../Webhook/Inbox.ts"
import { warnEachMinute } from "./Events/EachMinute.ts"
import { hintOf, keyOfResource, touchedBy } from "./Events/EventHint.ts"
import { EventJobs, handOutEvents } from "./Events/EventJobs.ts"
import { meterEvents } from "./Events/EventMeters.ts"
import { type ReadAgain, TouchedReader } from "./Events/EventReader.ts"
import { noteOf, tellUnknown } from "./Events/UnknownEvents.ts"
import { Clients } from "./Runs/Clients.ts"
import { aloneOfClient, failureOf } from "./Runs/Failures.ts"
import { forAMoment, holdingBookAMoment } from "./Runs/Holding.ts"
import { runParts, syncParts } from "./Runs/Layers.ts"
import { inTimeZone, recordEnd } from "./Runs/Proving.ts"
import { unreadText } from "./Runs/RunReport.ts"

/** Events that one round takes: they are read together, and what they name is read once. */
const eventsPerRound = 5_000
/** Rounds that follow each other begin so far apart: what comes meanwhile is one round. */
const gathering = Duration.millis(150)
/** Where nothing announces an event (another process received it, a try is due), it is looked for. */
const lookAgain = Duration.seconds(2)

const reading = TouchedReader.Default.pipe(Layer.provideMerge(syncParts))

const readerOf = (partner: Context.Tag.Service<Partner>) =>
  Effect.provide(TouchedReader, Layer.provide(reading, Layer.succeed(Partner, partner)))

/** What a round came to. */
export interface Round {
  readonly runId: number
  readonly events: number
  readonly failed: number
  readonly entries: number
  readonly journalEntries: number
}

interface Hinted {
  readonly event: WaitingEvent
  readonly hint: ReturnType<typeof hintOf>
}

/** Why an event's effect is not in the books; none where it is. */
const whyNot = ({ hint }: Hinted, read: ReadAgain): Option.Option<string> => {
  const [whole] = read.failures
  const ofAccount = Option.flatMap(hint.account, (id) => Option.fromNullable(read.accounts.get(id)))
  const ofResource = Option.flatMap(hint.resource, (key) =>
    Option.fromNullable(read.resources.get(keyOfResource(key))),
  )
  const ofWhole =
    whole !== undefined && (Option.isSome(hint.unknown) || hint.addressBook)
      ? Option.some(`${unreadText(whole)}: ${whole.why}`)
      : Option.none()
  return Option.orElse(ofAccount, () => Option.orElse(ofResource, () => ofWhole))
}

export class Events extends Effect.Service<Events>()("tieout/Events", {
  dependencies: [Ledger.Default, Reconcile.Default],
  effect: Effect.gen(function* () {
    const settings = yield* Settings
    const database = yield* Database
    const ledger = yield* Ledger
    const reconcile = yield* Reconcile
    const inbox = yield* Inbox
    const services = yield* Effect.context<Database | Settings | Ledger | Reconcile>()

    const isWaiting = Effect.fn("Events.isWaiting")(function* (connection: string, of: "nobody" | undefined) {
      const { waiting } = yield* database.row(
        "Events.isWaiting",
        { waiting: bool },
        (sql) => sql`
          select exists (
            select 1 from webhook.inbox i
            where i.connection = ${connection} and i.state in ('waiting', 'failed') and i.next_try_at <= now()
              and (${of === undefined}::boolean or not exists (
                select from sync.book_events e
                where e.connection = i.connection and e.event_id = i.event_id and e.digest = i.digest))) as waiting`,
      )
      return waiting
    })

    /** The book of every client; one that is not known yet is looked for in the service's list. */
    const booksFor = Effect.fn("Events.booksFor")(function* (
      connection: string,
      clients: ReadonlySet<string>,
    ) {
      const known = () =>
        Effect.map(
          Effect.provide(allBooks(Option.some(connection)), services),
          (books) => new Map(books.map((book) => [Option.getOrElse(book.clientId, () => ""), book] as const)),
        )
      const books = yield* known()
      if ([...clients, ""].every((client) => books.has(client))) return books
      const organization = yield* Effect.provide(organizationBook(connection), services)
      if ([...clients].some((client) => client !== "" && !books.has(client)))
        yield* (yield* Clients).read(organization)
      return yield* known()
    })

    const readBook = Effect.fn("Events.readBook")(function* (book: Book, hinted: ReadonlyArray<Hinted>) {
      const partner = yield* PartnerConnection
      yield* Effect.provide(inTimeZone([book], (yield* Run).commit), services)
      const reads = Option.match(book.clientId, {
        onNone: () => partner.organization,
        onSome: partner.client,
      })
      const reader = yield* readerOf(Partner.of({ ...reads, requests: partner.requests }))
      return yield* reader.read(book, touchedBy(hinted.map(({ hint }) => hint)))
    })

    /** Part of the round: what the events of one book come to. Gives those that failed, with why. */
    const takeBook = Effect.fn("Events.takeBook")(function* (book: Book, hinted: ReadonlyArray<Hinted>) {
      const nothing = { newEntries: new Map(), accounts: new Map(), resources: new Map() }
      const read: ReadAgain = yield* readBook(book, hinted).pipe(
        aloneOfClient((error) => ({ ...nothing, failures: [failureOf({ kind: "book" }, error)] })),
      )
      const broken = read.newEntries.size === 0 && read.failures.some(({ unread }) => unread.kind === "book")
      return hinted.map((one) => ({
        ...one,
        why: broken ? Option.some(read.failures[0]?.why ?? "") : whyNot(one, read),
      }))
    })

    const absorb = Effect.fn("Events.absorb")(function* (
      connection: string,
      events: ReadonlyArray<WaitingEvent>,
      /** The one that they are all about, where others work at the other books. */
      alone: Option.Option<Book>,
    ) {
      const run = yield* Run
      const hinted = events.map((event): Hinted => ({ event, hint: hintOf(event.type, event.body) }))
      const byClient = new Map<string, Array<Hinted>>()
      for (const one of hinted) {
        const client = Option.getOrElse(one.hint.clientId, () => "")
        const others = byClient.get(client)
        if (others === undefined) byClient.set(client, [one])
        else others.push(one)
      }
      const books = yield* booksFor(connection, new Set(byClient.keys()))
      const taken = yield* Effect.forEach(byClient, ([client, ofClient]) => {
        const book = books.get(client)
        const unknown = `the service lists no client ${client}`
        return book === undefined
          ? Effect.succeed(ofClient.map((one) => ({ ...one, why: Option.some(unknown) })))
          : takeBook(book, ofClient)
      })
      const touched = [...byClient.keys()].flatMap((client) => books.get(client) ?? [])
      if (run.counters.journalEntries > 0) yield* run.commit(ledger.assignNumbers(touched, run.runId))
      // Where an event came with several bodies, that is found in the organization's book, whoever it was about.
      const organization = Option.toArray(Option.fromNullable(books.get("")))
      const odd = events.some(({ conflict }) => conflict)
      const proved = odd ? [...new Set([...touched, ...organization])] : touched
      yield* reconcile.afterRun(proved, { ...run, full: false, isShared: Option.isSome(alone) })
      const outcomes = taken.flat()
      const done = outcomes.filter(({ why }) => Option.isNone(why))
      const finish = inbox.finish(
        done.map(({ event, hint }) => ({ ...event, note: Option.getOrUndefined(noteOf(hint)) })),
      )
      const took = yield* run.commit(
        Option.match(alone, {
          onNone: () => finish,
          onSome: (book) => Effect.zipRight(reconcile.cover([book], run.runId), finish),
        }),
      )
      meterEvents(connection, took)
      yield* tellUnknown(done)
      const failed = outcomes.flatMap(({ event, why }) =>
        Option.toArray(Option.map(why, (text) => ({ event, text }))),
      )
      for (const text of new Set(failed.map((one) => one.text))) {
        const same = failed.filter((one) => one.text === text).map(({ event }) => event)
        yield* run.commit(inbox.fail(same, text))
      }
      return {
        runId: run.runId,
        events: events.length,
        failed: failed.length,
        entries: run.counters.entries,
        journalEntries: run.counters.journalEntries,
      } satisfies Round
    })

    /** Takes what is due, if anything is, by the run that has the lease, or not at all. */
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
        return yield* absorb(connection, events, alone).pipe(
          Effect.asSome,
          Effect.provide(runParts),
          Effect.provideService(Run, run),
          Effect.annotateLogs({ run: run.runId }),
          Effect.annotateSpans({ connection, run: run.runId }),
          // What stopped the round as a whole is every event's: tried again, each time after a longer wait.
          Effect.tapError((error) => run.commit(inbox.fail(events, error.message))),
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
      const jobs = yield* EventJobs
      if (Option.isSome(jobs)) yield* Effect.provide(handOutEvents(connection, jobs.value), services)
      const of = Option.isSome(jobs) ? "nobody" : undefined
      if (!(yield* isWaiting(connection, of))) return Option.none<Round>()
      const work = takenBy(
        inbox.take(connection, eventsPerRound, undefined, of),
        beginRun(connection, "events"),
        connection,
        Option.none(),
      )
      return yield* forAMoment(database, connection, work).pipe(Effect.provide(services))
    })

    /** A worker's part: takes what waits of a book, beside others at the other books; none where nothing waits. */
    const bookRound = Effect.fn("Events.bookRound")(function* (book: Book) {
      const work = takenBy(
        inbox.take(book.connection, eventsPerRound, undefined, book.bookId),
        beginBookEvents(book),
        book.connection,
        Option.some(book),
      )
      return yield* holdingBookAMoment(database, book, work).pipe(Effect.provide(services))
    })

    /** Follows the events of a connection until it is interrupted; `onRound` hears of every round, and logs as its run. */
    const follow = Effect.fn("Events.follow")(function* (
      connection: string,
      onRound: (round: Round) => Effect.Effect<void>,
    ) {
      const partner = connected({
        ...(yield* settings.connection(connection)),
        limits: settings.limits,
      })
      const waits = warnEachMinute((why) => `Events of ${connection} wait: ${why}`)
      const rounds = round(connection).pipe(
        Effect.tap(
          Option.match({
            onNone: () => Effect.void,
            onSome: (done) => Effect.annotateLogs(onRound(done), { run: done.runId }),
          }),
        ),
        Effect.repeat({ while: Option.isSome }),
        Effect.catchAll(waits),
      )
      const announced = inbox.arrivals.pipe(
        Stream.filter((name) => name === connection),
        Stream.as(undefined),
      )
      const regularly = Stream.fromSchedule(Schedule.spaced(lookAgain)).pipe(Stream.as(undefined))
      // What a process that is gone had taken is due at once; nobody works at any while this one holds the connection.
      yield* forAMoment(database, connection, inbox.release(connection)).pipe(Effect.catchAll(waits))
      // A burst is one announcement; one event after a while is not held up, nor by a look that found nothing.
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
