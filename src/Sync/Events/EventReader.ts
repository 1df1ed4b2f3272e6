/** Reads again what events have touched of one book: resources, the tails of statements, accounts, the address book. */
import { Effect, Either, Option } from "effect"
import type { Book } from "../../Book.ts"
import { oneOf, uuid } from "../../Database/Columns.ts"
import { textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import { MirrorAccounts } from "../../Mirror/MirroredAccounts.ts"
import { Partner, resourceTypes } from "../../Partner.ts"
import { nowIso, Run } from "../../Run.ts"
import { ResourceKey } from "../Resources/Hydration.ts"
import { Lists } from "../Resources/Lists.ts"
import { OpenResources } from "../Resources/OpenResources.ts"
import { BookReader } from "../Runs/BookReader.ts"
import { aloneOfStream, failureOf } from "../Runs/Failures.ts"
import { type Failure, unreadText } from "../Runs/RunReport.ts"
import { PostingFacts } from "../Statements/PostingFacts.ts"
import { keyOfResource, type Touched } from "./EventHint.ts"

/** What could not be read. Only the events that named it are tried again. */
export interface ReadAgain {
  readonly newEntries: ReadonlyMap<string, number>
  /** Why, by account. */
  readonly accounts: ReadonlyMap<string, string>
  /** Why, by `keyOfResource`. */
  readonly resources: ReadonlyMap<string, string>
  /** Failures that concern the book as a whole. */
  readonly failures: ReadonlyArray<Failure>
}

const made = Effect.gen(function* () {
  const database = yield* Database
  const partner = yield* Partner
  const accounts = yield* MirrorAccounts
  const lists = yield* Lists
  const open = yield* OpenResources
  const facts = yield* PostingFacts
  const reader = yield* BookReader

  /** The accounts that resources move, as far as they are mirrored. */
  const accountsOf = Effect.fn("Events.Reader.accountsOf")(function* (
    book: Book,
    keys: ReadonlyArray<ResourceKey>,
  ) {
    if (keys.length === 0) return []
    const rows = yield* database.rows(
      "Events.Reader.accountsOf",
      { account_id: uuid },
      (sql) => sql`
          select account_id from mirror.resources
          where book_id = ${book.bookId} and resource_id = any (${textArray(
            sql,
            keys.map(({ id }) => id),
          )}::uuid[])
          union
          select buy_account_id from mirror.resources
          where book_id = ${book.bookId} and buy_account_id is not null and resource_id = any (${textArray(
            sql,
            keys.map(({ id }) => id),
          )}::uuid[])`,
    )
    return rows.map(({ account_id: id }) => id)
  })

  /** Which of them the service answers 404 for: an event may come before what it names can be read. */
  const unknownOf = Effect.fn("Events.Reader.unknownOf")(function* (
    book: Book,
    keys: ReadonlyArray<ResourceKey>,
  ) {
    const ids = keys.map(({ id }) => id)
    const rows = yield* database.rows(
      "Events.Reader.unknownOf",
      { type: oneOf(...resourceTypes), id: uuid },
      (sql) => sql`
          select resource_type as type, resource_id as id from mirror.missing_resources
          where book_id = ${book.bookId} and resource_id = any (${textArray(sql, ids)}::uuid[])`,
    )
    return rows.map(({ id, type }) => new ResourceKey({ type, id }))
  })

  /** Reads all at once or, if that fails, one by one, so that one unreadable resource does not hold up the others. */
  const readResources = Effect.fn("Events.Reader.readResources")(function* (
    book: Book,
    keys: ReadonlyArray<ResourceKey>,
  ) {
    const failed = new Map<string, string>()
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
              failed.set(keyOfResource(key), error.message)
            }),
          ),
        { concurrency: 4, discard: true },
      )
    }
    for (const key of yield* unknownOf(book, keys)) {
      const name = keyOfResource(key)
      const why = `the service does not know the ${key.type.toLowerCase()} ${key.id} (yet)`
      if (!failed.has(name)) failed.set(name, why)
    }
    return failed
  })

  /** The account's status and balance. */
  const readAccount = Effect.fn("Events.Reader.readAccount")(function* (book: Book, accountId: string) {
    const run = yield* Run
    const askedAt = nowIso(yield* Effect.clockWith((clock) => clock.currentTimeMillis))
    const answer = yield* partner.account(accountId)
    if (Option.isSome(answer) && Either.isRight(answer.value)) {
      yield* run.commit(accounts.put(book, run.runId, askedAt, [answer.value.right]))
    }
  })

  const read = Effect.fn("Events.Reader.read")(function* (book: Book, touched: Touched) {
    if (touched.everything) {
      // Lists and statements do not read a resource that is final, or not there yet, though an event names it.
      yield* facts.refresh(book)
      const resources = yield* readResources(book, touched.resources)
      const outcome = yield* reader.read(book, false)
      return {
        newEntries: outcome.newEntries,
        accounts: new Map(),
        resources,
        failures: outcome.failures,
      } satisfies ReadAgain
    }
    const failures: Array<Failure> = []
    const failedAccounts = new Map<string, string>()
    if (touched.addressBook && partner.addressBook !== null) {
      yield* lists.readReference(book, "destination", partner.addressBook).pipe(
        aloneOfStream((error): void => {
          failures.push(failureOf({ kind: "list", name: "address book" }, error))
        }),
      )
    }
    yield* facts.refresh(book)
    const failedResources = yield* readResources(book, touched.resources)
    const wanted = new Set([...touched.accounts, ...(yield* accountsOf(book, touched.resources))])
    yield* Effect.forEach(
      wanted,
      (accountId) =>
        readAccount(book, accountId).pipe(
          aloneOfStream((error): void => {
            failedAccounts.set(accountId, error.message)
          }),
        ),
      { concurrency: 4, discard: true },
    )
    const all = (yield* accounts.all(book)).filter(({ accountId }) => wanted.has(accountId))
    const outcome = yield* reader.readSome(book, all)
    for (const failure of outcome.failures) {
      const { unread, why } = failure
      if (unread.kind === "statement") failedAccounts.set(unread.accountId, `${unreadText(failure)}: ${why}`)
      else failures.push(failure)
    }
    return {
      newEntries: outcome.newEntries,
      accounts: failedAccounts,
      resources: failedResources,
      failures,
    } satisfies ReadAgain
  })

  return { read }
})

export class TouchedReader extends Effect.Service<TouchedReader>()("tieout/Events/Reader", { effect: made }) {
  static readonly made = Effect.map(made, (parts) => new TouchedReader(parts))
}
