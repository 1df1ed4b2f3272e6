/** Reads again what events have touched of one book: resources, the tails of statements, accounts, the address book. */
import { Effect, Either, Option } from "effect"
import type { Book } from "../../Book.ts"
import { nowByUs } from "../../Common/Time.ts"
import { oneOf, uuid } from "../../Database/Columns.ts"
import { textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import { MirrorAccounts } from "../../Mirror/MirroredAccounts.ts"
import { Partner, resourceTypes } from "../../Partner.ts"
import { Run } from "../../Run.ts"
import { ResourceKey } from "../Resources/Hydration.ts"
import { Lists } from "../Resources/Lists.ts"
import { OpenResources } from "../Resources/OpenResources.ts"
import { BookReader } from "../Runs/BookReader.ts"
import { aloneOfStream, failureOf, isAway, type StreamError } from "../Runs/Failures.ts"
import { type Failure, unreadText } from "../Runs/RunReport.ts"
import { PostingFacts } from "../Statements/PostingFacts.ts"
import { unshownOf } from "./Announced.ts"
import { keyOfResource, type Touched } from "./EventHint.ts"
import { lackingOf, namedBy, unknownOf } from "./Late.ts"

/** Why something could not be read, and whether that passes by itself. */
export type Unread = Pick<Failure, "why" | "passing">

export const lasting = (why: string): Unread => ({ why, passing: false })

export const unreadFor = (error: StreamError): Unread => ({ why: error.message, passing: isAway(error) })

/** What could not be read. Only the events that named it are tried again. */
export interface ReadAgain {
  readonly newEntries: ReadonlyMap<string, number>
  /** By account. */
  readonly accounts: ReadonlyMap<string, Unread>
  /** By `keyOfResource`. */
  readonly resources: ReadonlyMap<string, Unread>
  /** Why there may be more in a moment, by `keyOfResource` and `keyOfAnnounced`: what events say, and is not shown. */
  readonly lacking: ReadonlyMap<string, string>
  /** Failures that concern the book as a whole. */
  readonly failures: ReadonlyArray<Failure>
}

const unknownAccount = (accountId: string): Unread =>
  lasting(`the service does not know the account ${accountId} (yet)`)

const made = Effect.gen(function* () {
  const database = yield* Database
  const partner = yield* Partner
  const accounts = yield* MirrorAccounts
  const lists = yield* Lists
  const open = yield* OpenResources
  const facts = yield* PostingFacts
  const reader = yield* BookReader

  /** The accounts that resources move, each with the resource, as far as that is mirrored; of an archived one its entries are. */
  const accountsOf = Effect.fn("Events.Reader.accountsOf")(function* (
    book: Book,
    keys: ReadonlyArray<ResourceKey>,
  ) {
    if (keys.length === 0) return []
    const ids = keys.map(({ id }) => id)
    const rows = yield* database.rows(
      "Events.Reader.accountsOf",
      { type: oneOf(...resourceTypes), id: uuid, account_id: uuid },
      (sql) => sql`
          select resource_type as type, resource_id as id, account_id from mirror.resources
          where book_id = ${book.bookId} and resource_id = any (${textArray(sql, ids)}::uuid[])
          union
          select resource_type, resource_id, buy_account_id from mirror.resources
          where book_id = ${book.bookId} and buy_account_id is not null
            and resource_id = any (${textArray(sql, ids)}::uuid[])
          union
          select a.resource_type, a.resource_id, e.account_id from mirror.archived_resources a
          join mirror.statement_entries e on e.book_id = a.book_id and e.related_id = a.resource_id
            and e.related_type = a.resource_type
          where a.book_id = ${book.bookId} and a.resource_id = any (${textArray(sql, ids)}::uuid[])`,
    )
    return rows.map(({ account_id: accountId, id, type }) => ({
      accountId,
      resource: keyOfResource(new ResourceKey({ type, id })),
    }))
  })

  const onDatabase = Effect.provideService(Database, database)

  /** Reads all at once or, if that fails, one by one, so that one unreadable resource does not hold up the others. */
  const readResources = Effect.fn("Events.Reader.readResources")(function* (
    book: Book,
    keys: ReadonlyArray<ResourceKey>,
  ) {
    const failed = new Map<string, Unread>()
    if (keys.length === 0) return failed
    const atOnce = yield* open.readKeys(book, keys).pipe(
      Effect.as(true),
      aloneOfStream(() => false),
    )
    if (!atOnce) {
      yield* Effect.forEach(
        keys,
        (key) =>
          open.readKeys(book, [key]).pipe(
            aloneOfStream((error): void => {
              failed.set(keyOfResource(key), unreadFor(error))
            }),
          ),
        { concurrency: 4, discard: true },
      )
    }
    const ids = keys.map(({ id }) => id)
    for (const key of yield* onDatabase(unknownOf(book, ids))) {
      const name = keyOfResource(key)
      const why = `the service does not know the ${key.type.toLowerCase()} ${key.id} (yet)`
      if (!failed.has(name)) failed.set(name, lasting(why))
    }
    return failed
  })

  /** The account's status and balance. Returns why they could not be had; none if they could. */
  const readAccount = Effect.fn("Events.Reader.readAccount")(function* (book: Book, accountId: string) {
    const run = yield* Run
    const askedAt = yield* nowByUs
    const answer = yield* partner.account(accountId)
    if (Option.isNone(answer)) return Option.some(unknownAccount(accountId))
    const account = answer.value
    if (Either.isLeft(account))
      return Option.some(lasting(`the service's answer for the account ${accountId} cannot be understood`))
    yield* run.commit(accounts.put(book, run.runId, askedAt, [account.right]))
    return Option.none<Unread>()
  })

  /**
   * Adds to what could not be read. An account is missing only where nothing is known of it: its statement is what counts. A resource's
   * effect waits for the statements of its accounts, as far as they are the book's.
   */
  const unreadOf = Effect.fn("Events.Reader.unreadOf")(function* (
    book: Book,
    failures: ReadonlyArray<Failure>,
    {
      accounts: named,
      moved,
      why,
    }: {
      readonly accounts: ReadonlySet<string>
      readonly moved: ReadonlyArray<{ readonly accountId: string; readonly resource: string }>
      /** What was said instead of each account. */
      readonly why: ReadonlyMap<string, Unread>
    },
    resources: Map<string, Unread>,
  ) {
    const asked = new Set([...named, ...moved.map(({ accountId }) => accountId)])
    const known = new Set((yield* accounts.some(book, asked)).map(({ accountId }) => accountId))
    const unread = new Map<string, Unread>()
    for (const accountId of named)
      if (!known.has(accountId)) unread.set(accountId, why.get(accountId) ?? unknownAccount(accountId))
    for (const failure of failures)
      if (failure.unread.kind === "statement")
        unread.set(failure.unread.accountId, { ...failure, why: `${unreadText(failure)}: ${failure.why}` })
    for (const { accountId, resource } of moved) {
      const reason = known.has(accountId) ? unread.get(accountId) : undefined
      if (reason !== undefined && !resources.has(resource)) resources.set(resource, reason)
    }
    return unread
  })

  /** `fresh`: what of it events name that are tried for the first time: a moment is waited for what statements lack of that. */
  const read = Effect.fn("Events.Reader.read")(function* (book: Book, touched: Touched, fresh: Touched) {
    const lacking = onDatabase(lackingOf(book, touched))
    const behind = Effect.map(
      onDatabase(unshownOf(book, fresh)),
      (all) => new Set(all.map(({ account_id: accountId }) => accountId)),
    )
    // An event of the movement and one of its posting name the same.
    const unknown = yield* onDatabase(unknownOf(book, namedBy(touched.announced)))
    const named = [
      ...new Map([...touched.resources, ...unknown].map((key) => [keyOfResource(key), key])).values(),
    ]
    if (touched.everything) {
      // Lists and statements do not read a resource that is final, or not there yet, though an event names it.
      yield* facts.refresh(book)
      const resources = yield* readResources(book, named)
      const moved = yield* accountsOf(book, touched.resources)
      const { failures, newEntries } = yield* reader.read(book, false)
      const about = { accounts: touched.accounts, moved, why: new Map<string, Unread>() }
      const unread = yield* unreadOf(book, failures, about, resources)
      return {
        newEntries,
        accounts: unread,
        resources,
        lacking: yield* lacking,
        failures,
      } satisfies ReadAgain
    }
    const failures: Array<Failure> = []
    if (touched.addressBook && partner.addressBook !== null) {
      yield* lists.readReference(book, "destination", partner.addressBook).pipe(
        aloneOfStream((error): void => {
          failures.push(failureOf({ kind: "list", name: "address book" }, error))
        }),
      )
    }
    yield* facts.refresh(book)
    const resources = yield* readResources(book, named)
    const moved = yield* accountsOf(book, touched.resources)
    const wanted = new Set([...touched.accounts, ...moved.map(({ accountId }) => accountId)])
    const why = new Map<string, Unread>()
    const failed = new Map<string, Unread>()
    yield* Effect.forEach(
      wanted,
      (accountId) =>
        readAccount(book, accountId).pipe(
          Effect.map(Option.map((unread) => why.set(accountId, unread))),
          aloneOfStream((error): void => {
            why.set(accountId, unreadFor(error))
            failed.set(accountId, unreadFor(error))
          }),
        ),
      { concurrency: 4, discard: true },
    )
    const outcome = yield* reader.readSome(book, yield* accounts.some(book, wanted), behind)
    failures.push(...outcome.failures.filter(({ unread }) => unread.kind !== "statement"))
    const unread = yield* unreadOf(
      book,
      outcome.failures,
      { accounts: touched.accounts, moved, why },
      resources,
    )
    return {
      newEntries: outcome.newEntries,
      accounts: new Map([...failed, ...unread]),
      resources,
      lacking: yield* lacking,
      failures,
    } satisfies ReadAgain
  })

  return { read }
})

export class TouchedReader extends Effect.Service<TouchedReader>()("tieout/Events/Reader", { effect: made }) {
  static readonly made = Effect.map(made, (parts) => new TouchedReader(parts))
}
