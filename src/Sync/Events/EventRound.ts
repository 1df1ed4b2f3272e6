/**
 * One round over the events that it took: reads again what they name, posts, numbers and reconciles it, and records the result
 * for each.
 */
import { type Context, Effect, Layer, Option } from "effect"
import { allBooks, type Book, organizationBook } from "../../Book.ts"
import { Ledger } from "../../Ledger.ts"
import { Partner, PartnerConnection } from "../../Partner.ts"
import { Reconcile } from "../../Reconcile.ts"
import { Run } from "../../Run.ts"
import { Inbox, type WaitingEvent } from "../../Webhook/Inbox.ts"
import { Clients } from "../Runs/Clients.ts"
import { aloneOfClient, failureOf } from "../Runs/Failures.ts"
import { syncParts } from "../Runs/Layers.ts"
import { inTimeZone } from "../Runs/Proving.ts"
import { unreadText } from "../Runs/RunReport.ts"
import { hintOf, keyOfResource, touchedBy } from "./EventHint.ts"
import { meterEvents } from "./EventMeters.ts"
import { type ReadAgain, TouchedReader } from "./EventReader.ts"
import { noteOf, tellUnknown } from "./UnknownEvents.ts"

const reading = TouchedReader.Default.pipe(Layer.provideMerge(syncParts))

const readerOf = (partner: Context.Tag.Service<Partner>) =>
  Effect.provide(TouchedReader, Layer.provide(reading, Layer.succeed(Partner, partner)))

/** The result of a round. */
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

/** Why an event's effect is not in the books; none if it is. */
const whyUnbooked = ({ hint }: Hinted, read: ReadAgain): Option.Option<string> => {
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

/** The book of every client; a client that is not known yet is looked up in the service's list. */
const booksFor = Effect.fn("Events.booksFor")(function* (connection: string, clients: ReadonlySet<string>) {
  const known = () =>
    Effect.map(
      allBooks(Option.some(connection)),
      (books) => new Map(books.map((book) => [Option.getOrElse(book.clientId, () => ""), book] as const)),
    )
  const books = yield* known()
  if ([...clients, ""].every((client) => books.has(client))) return books
  const organization = yield* organizationBook(connection)
  if ([...clients].some((client) => client !== "" && !books.has(client)))
    yield* (yield* Clients).read(organization)
  return yield* known()
})

const readBook = Effect.fn("Events.readBook")(function* (book: Book, hinted: ReadonlyArray<Hinted>) {
  const partner = yield* PartnerConnection
  yield* inTimeZone([book], (yield* Run).commit)
  const reads = Option.match(book.clientId, {
    onNone: () => partner.organization,
    onSome: partner.client,
  })
  const reader = yield* readerOf(Partner.of({ ...reads, requests: partner.requests }))
  return yield* reader.read(book, touchedBy(hinted.map(({ hint }) => hint)))
})

/** The part of a round for one book. Returns the events that failed, with the reason. */
const takeBook = Effect.fn("Events.takeBook")(function* (book: Book, hinted: ReadonlyArray<Hinted>) {
  const nothing = { newEntries: new Map(), accounts: new Map(), resources: new Map() }
  const read: ReadAgain = yield* readBook(book, hinted).pipe(
    aloneOfClient((error) => ({ ...nothing, failures: [failureOf({ kind: "book" }, error)] })),
  )
  const broken = read.newEntries.size === 0 && read.failures.some(({ unread }) => unread.kind === "book")
  return hinted.map((one) => ({
    ...one,
    why: broken ? Option.some(read.failures[0]?.why ?? "") : whyUnbooked(one, read),
  }))
})

type Outcome = Effect.Effect.Success<ReturnType<typeof takeBook>>[number]

/** By client; the organization's own under the empty text. */
const byClient = (hinted: ReadonlyArray<Hinted>): ReadonlyMap<string, ReadonlyArray<Hinted>> => {
  const clients = new Map<string, Array<Hinted>>()
  for (const one of hinted) {
    const client = Option.getOrElse(one.hint.clientId, () => "")
    const others = clients.get(client)
    if (others === undefined) clients.set(client, [one])
    else others.push(one)
  }
  return clients
}

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
    done.map(({ event, hint }) => ({ ...event, note: Option.getOrUndefined(noteOf(hint)) })),
  )
  const delays = yield* run.commit(
    Option.match(alone, {
      onNone: () => finish,
      onSome: (book) => Effect.zipRight(reconcile.cover([book], run.runId), finish),
    }),
  )
  meterEvents(connection, delays)
  yield* tellUnknown(done)
  const failed = outcomes.flatMap(({ event, why }) =>
    Option.toArray(Option.map(why, (text) => ({ event, text }))),
  )
  for (const text of new Set(failed.map((one) => one.text))) {
    const same = failed.filter((one) => one.text === text).map(({ event }) => event)
    yield* run.commit(inbox.fail(same, text))
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
  const clients = byClient(events.map((event) => ({ event, hint: hintOf(event.type, event.body) })))
  const books = yield* booksFor(connection, new Set(clients.keys()))
  const taken = yield* Effect.forEach(clients, ([client, ofClient]) => {
    const book = books.get(client)
    const unknown = `the service lists no client ${client}`
    return book === undefined
      ? Effect.succeed(ofClient.map((one) => ({ ...one, why: Option.some(unknown) })))
      : takeBook(book, ofClient)
  })
  const touched = [...clients.keys()].flatMap((client) => books.get(client) ?? [])
  if (run.counters.journalEntries > 0) yield* run.commit(ledger.assignNumbers(touched, run.runId))
  // An event with several bodies is a finding of the organization's book, whichever client it was about.
  const organization = Option.toArray(Option.fromNullable(books.get("")))
  const hasConflict = events.some(({ conflict }) => conflict)
  const proved = hasConflict ? [...new Set([...touched, ...organization])] : touched
  yield* reconcile.afterRun(proved, { ...run, full: false, isShared: Option.isSome(alone) })
  return {
    runId: run.runId,
    events: events.length,
    failed: yield* noteOutcomes(connection, taken.flat(), alone),
    entries: run.counters.entries,
    journalEntries: run.counters.journalEntries,
  } satisfies Round
})
