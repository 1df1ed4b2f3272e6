/** Which book an event is of: the client's that it names, or whose account it names, or else the organization's. */
import { Effect, Option } from "effect"
import { allBooks, type Book, organizationBook } from "../../Book.ts"
import { uuid } from "../../Database/Columns.ts"
import { textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import type { WaitingEvent } from "../../Webhook/Inbox.ts"
import { Clients } from "../Runs/Clients.ts"
import { aloneOfClient } from "../Runs/Failures.ts"
import { type Hint, hintOf } from "./EventHint.ts"
import { type Unread, unreadFor } from "./EventReader.ts"

export interface Hinted {
  readonly event: WaitingEvent
  readonly hint: Hint
}

/** The clients that hold accounts which events name without a client; the organization's own accounts are not among them. */
const holders = Effect.fn("Events.holders")(function* (connection: string, named: ReadonlyArray<string>) {
  const database = yield* Database
  if (named.length === 0) return new Map<string, string>()
  const rows = yield* database.rows(
    "Events.holders",
    { account_id: uuid, client_id: uuid },
    (sql) => sql`
      select a.account_id, b.client_id from mirror.accounts a
      join mirror.books b on b.book_id = a.book_id
      where b.connection = ${connection} and b.client_id is not null
        and a.account_id = any (${textArray(sql, named)}::uuid[])
        and not exists (
          select from mirror.accounts o join mirror.books own on own.book_id = o.book_id
          where own.connection = b.connection and own.client_id is null and o.account_id = a.account_id)
      -- Of several clients the one that holds it now comes last.
      order by a.unlisted_since is null, b.book_id`,
  )
  return new Map(rows.map((row) => [row.account_id, row.client_id] as const))
})

/** Events by client; the organization's own under the empty text. */
export const byClient = Effect.fn("Events.byClient")(function* (
  connection: string,
  events: ReadonlyArray<WaitingEvent>,
) {
  const hinted = events.map((event): Hinted => ({ event, hint: hintOf(event.type, event.body) }))
  const named = hinted.flatMap(({ hint: { account, clientId } }) =>
    Option.isNone(clientId) ? Option.toArray(account) : [],
  )
  const clientOf = yield* holders(connection, [...new Set(named)])
  const clients = new Map<string, Array<Hinted>>()
  for (const one of hinted) {
    const { account, clientId } = one.hint
    const holder = Option.flatMapNullable(account, (id) => clientOf.get(id))
    const client = Option.getOrElse(
      Option.orElse(clientId, () => holder),
      () => "",
    )
    const others = clients.get(client)
    if (others === undefined) clients.set(client, [one])
    else others.push(one)
  }
  return clients
})

/** By client, why the service keeps its paths closed ("only `ACTIVE` clients can use client-scoped operations"). */
export type Closed = ReadonlyMap<string, string>

/** A client without an entry has open paths, or is not listed. */
export const closedClients = Effect.fn("Events.closedClients")(function* (connection: string) {
  const { inactive } = yield* (yield* Clients).read(yield* organizationBook(connection))
  const closed: Closed = new Map(
    inactive.map(({ id, status }) => [id, `the service lists the client as ${status}`]),
  )
  return closed
})

/**
 * The book of every client; one that is not known yet is looked for in the service's list. `why`: that list cannot be read, which concerns
 * the clients without a book alone. `closed`: what the list says, where it was read.
 */
export const booksFor = Effect.fn("Events.booksFor")(function* (
  connection: string,
  clients: ReadonlySet<string>,
) {
  const known = Effect.map(
    allBooks(Option.some(connection)),
    (books): ReadonlyMap<string, Book> =>
      new Map(books.map((book) => [Option.getOrElse(book.clientId, () => ""), book] as const)),
  )
  const books = yield* known
  const unread = { why: Option.none<Unread>(), closed: Option.none<Closed>() }
  if ([...clients, ""].every((client) => books.has(client))) return { books, ...unread }
  yield* organizationBook(connection)
  const isListed = [...clients].every((client) => client === "" || books.has(client))
  if (isListed) return { books: yield* known, ...unread }
  const listed = yield* closedClients(connection).pipe(
    Effect.map((closed) => ({ ...unread, closed: Option.some<Closed>(closed) })),
    aloneOfClient((error) => ({ ...unread, why: Option.some(unreadFor(error)) })),
  )
  return { books: yield* known, ...listed }
})
