/**
 * One round over the events that it took: reads again what they name, posts, numbers and reconciles it, and records the result
 * for each.
 */
import { Array as Arr, Context, Effect, Option, pipe } from "effect"
import { type Book, organizationBook } from "../../Book.ts"
import { Ledger } from "../../Ledger.ts"
import { Partner, PartnerConnection } from "../../Partner.ts"
import { Reconcile } from "../../Reconcile.ts"
import { countBooked } from "../../Run/Counters.ts"
import { Run } from "../../Run.ts"
import { Settings } from "../../Settings.ts"
import { defaultTries, Inbox, triesOfOutage, type WaitingEvent } from "../../Webhook/Inbox.ts"
import { Loans } from "../Credit/Loans.ts"
import { aloneOfClient, failureOf, isAbsent } from "../Runs/Failures.ts"
import { add, syncParts } from "../Runs/Parts.ts"
import { bySettings } from "../Runs/Proving.ts"
import { booksFor, byClient, type Closed, closedClients, type Hinted } from "./EventBooks.ts"
import { touchedBy } from "./EventHint.ts"
import { meterEvents } from "./EventMeters.ts"
import { leave, leftToSync, type Outcome, ofOthers, outcomeOf, unreadable } from "./EventOutcome.ts"
import { lasting, type ReadAgain, TouchedReader } from "./EventReader.ts"
import { tellNotes } from "./UnknownEvents.ts"

const parts = pipe(syncParts, add(TouchedReader, TouchedReader.made))

const partsOf = (partner: Context.Tag.Service<Partner>) =>
  Effect.map(Effect.provideService(parts, Partner, partner), (made) => ({
    loans: Context.get(made, Loans),
    reader: Context.get(made, TouchedReader),
  }))

/** The result of a round. */
export interface Round {
  readonly runId: number
  readonly events: number
  readonly failed: number
  readonly entries: number
  readonly journalEntries: number
}

const touchedOf = (hinted: ReadonlyArray<Hinted>) => touchedBy(hinted.map(({ hint }) => hint))

const readBook = Effect.fn("Events.readBook")(function* (book: Book, hinted: ReadonlyArray<Hinted>) {
  const partner = yield* PartnerConnection
  yield* bySettings([book], (yield* Run).commit)
  const reads = Option.match(book.clientId, {
    onNone: () => partner.organization,
    onSome: partner.client,
  })
  const { loans, reader } = yield* partsOf(Partner.of({ ...reads, requests: partner.requests }))
  const first = hinted.filter(({ event }) => event.tries === 1)
  const read = yield* reader.read(book, touchedOf(hinted), touchedOf(first))
  // Cash of a receivable that came, or was sent back, changes what was paid: until it is known, no check could find that.
  const { accounting, connection } = yield* Settings
  const isLenders = Option.isNone(book.clientId)
  if (
    isLenders === (accounting.receivables.view === "lender") &&
    (yield* connection(book.connection)).surfaces.includes("credit")
  )
    yield* loans.takeCash(yield* organizationBook(book.connection), book)
  return read
})

type ClosedClients = ReturnType<typeof closedClients>

/**
 * The part of a round for one book. Returns the events that failed, with the reason. `closed`: the list of clients, which may be long, is
 * read where an event fails, and once for all of them.
 */
const takeBook = Effect.fn("Events.takeBook")(function* (
  book: Book,
  hinted: ReadonlyArray<Hinted>,
  closed: ClosedClients,
) {
  const nothing = {
    newEntries: new Map(),
    accounts: new Map(),
    resources: new Map(),
    lacking: new Map<string, string>(),
  }
  let isGone = false
  const read: ReadAgain = yield* readBook(book, hinted).pipe(
    aloneOfClient((error) => {
      isGone = Option.isSome(book.clientId) && isAbsent(error)
      return { ...nothing, failures: [failureOf({ kind: "book" }, error)] }
    }),
  )
  const broken = read.newEntries.size === 0 && read.failures.some(({ unread }) => unread.kind === "book")
  const outcomes = hinted.map(outcomeOf(book, read, broken))
  const isWhole = outcomes.every(({ why }) => Option.isNone(why))
  const statuses =
    isWhole || Option.isNone(book.clientId)
      ? new Map<string, string>()
      : yield* closed.pipe(aloneOfClient((): Closed => new Map()))
  return Option.match(
    Option.flatMapNullable(book.clientId, (client) => statuses.get(client)),
    {
      // It may be about to be opened, or was deleted and is in no list any more.
      onNone: () =>
        outcomes.map((one) =>
          isGone && Option.isSome(one.why) ? unreadable(one.why.value, false)(one) : one,
        ),
      onSome: (status) =>
        outcomes.map((one) => (Option.isNone(one.why) ? one : unreadable(lasting(status), true)(one))),
    },
  )
})

/** Ends the events that are in the books, and postpones the others. Returns how many were postponed. */
const noteOutcomes = Effect.fn("Events.noteOutcomes")(function* (
  connection: string,
  outcomes: ReadonlyArray<Outcome>,
  alone: Option.Option<Book>,
) {
  const run = yield* Run
  const inbox = yield* Inbox
  const reconcile = yield* Reconcile
  const done = outcomes.filter(({ why }) => Option.isNone(why))
  const finish = inbox.finish(
    done.map(({ event, note }) => ({ ...event, note: Option.getOrUndefined(note) })),
  )
  const delays = yield* run.commit(
    Option.match(alone, {
      onNone: () => finish,
      onSome: (book) => Effect.zipRight(reconcile.cover([book], run.runId), finish),
    }),
  )
  meterEvents(connection, delays)
  yield* tellNotes(done)
  const failed = outcomes.flatMap(({ event, why }) =>
    Option.toArray(Option.map(why, ({ passing, why: text }) => ({ event, passing, text }))),
  )
  for (const same of Object.values(Arr.groupBy(failed, ({ passing, text }) => `${passing} ${text}`))) {
    const [{ passing, text }] = same
    yield* run.commit(
      inbox.fail(
        same.map(({ event }) => event),
        text,
        passing ? triesOfOutage : defaultTries,
      ),
    )
  }
  return failed.length
})

/** Brings the effect of events into the books. `Clients` and what reads a book are those of the round's run. */
export const absorbEvents = Effect.fn("Events.absorb")(function* (
  connection: string,
  events: ReadonlyArray<WaitingEvent>,
  /** The one book that all events are about, if others work at the other books. */
  alone: Option.Option<Book>,
) {
  const run = yield* Run
  const ledger = yield* Ledger
  const reconcile = yield* Reconcile
  const { surfaces } = yield* (yield* Settings).connection(connection)
  const all = yield* byClient(connection, events)
  const isRead = (client: string): boolean => surfaces.includes(client === "" ? "organization" : "client")
  const clients = new Map([...all].filter(([client]) => isRead(client)))
  const left = [...all].flatMap(([client, hinted]) =>
    isRead(client) ? [] : leave(hinted, client === "" ? leftToSync : ofOthers),
  )
  const { books, closed: shown, why } = yield* booksFor(connection, new Set(clients.keys()))
  const closed = yield* Effect.cached(
    Option.match(shown, { onNone: () => closedClients(connection), onSome: Effect.succeed }),
  )
  const taken = yield* Effect.forEach(clients, ([client, ofClient]) => {
    const book = books.get(client)
    if (book !== undefined) return takeBook(book, ofClient, closed)
    const status = Option.flatMapNullable(shown, (statuses) => statuses.get(client))
    // It may be listed in a moment.
    const unlisted = Option.getOrElse(why, () => lasting(`the service lists no client ${client}`))
    return Effect.succeed(
      ofClient.map(
        unreadable(Option.match(status, { onNone: () => unlisted, onSome: lasting }), Option.isSome(status)),
      ),
    )
  })
  const outcomes = [...taken.flat(), ...left]
  const touched = [...clients.keys()].flatMap((client) => books.get(client) ?? [])
  if (run.counters.journalEntries > 0) {
    const { conversionEntries } = yield* run.commit(ledger.assignNumbers(touched, run.runId))
    countBooked(run.counters, conversionEntries)
  }
  // An event with several bodies is a finding of the organization's book, whichever client it was about.
  const organization = Option.toArray(Option.fromNullable(books.get("")))
  const hasConflict = events.some(({ conflict }) => conflict)
  const proved = hasConflict ? [...new Set([...touched, ...organization])] : touched
  yield* reconcile.afterRun(proved, { ...run, full: false, isShared: Option.isSome(alone) })
  return {
    runId: run.runId,
    events: events.length,
    failed: yield* noteOutcomes(connection, outcomes, alone),
    entries: run.counters.entries,
    journalEntries: run.counters.journalEntries,
  } satisfies Round
})
