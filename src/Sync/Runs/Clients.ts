/** The clients of a connection: every one that may be read is a book. */
import { Effect, Either, Option } from "effect"
import { allBooks, type Book, clientBook } from "../../Book.ts"
import { isReadableClient } from "../../Common/ClientStatus.ts"
import { int4 } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import { Quarantine } from "../../Mirror/Quarantine.ts"
import { ReferenceItems } from "../../Mirror/ReferenceItems.ts"
import { readWhole } from "../../Partner/Lists/WholeList.ts"
import { type Client, type Instant, PartnerConnection } from "../../Partner.ts"
import { nowIso, Run } from "../../Run.ts"
import { noteReads, noting } from "./Evidence.ts"
import { FloodGate } from "./FloodGate.ts"

const kind = "client"

export interface ListedClients {
  /** By identifier, in its order. */
  readonly books: ReadonlyArray<{ readonly client: Client; readonly book: Book }>
  /** Listed, but not to be read. */
  readonly inactive: ReadonlyArray<Client>
  /** Clients with accounts, by identifier, that are not to be read any more, with the service's status as the reason. */
  readonly stopped: ReadonlyArray<{ readonly book: Book; readonly clientId: string; readonly status: string }>
  /** Clients with accounts that the list no longer shows. Their paths may still be open. */
  readonly unlisted: ReadonlyArray<{ readonly clientId: string; readonly book: Book }>
}

const made = Effect.gen(function* () {
  const database = yield* Database
  const partner = yield* PartnerConnection
  const reference = yield* ReferenceItems
  const quarantine = yield* Quarantine
  const flood = yield* FloodGate

  const booksOf = Effect.fn("Sync.Clients.booksOf")(
    function* (connection: string, clients: ReadonlyArray<Client>) {
      const known = new Map(
        (yield* allBooks(Option.some(connection))).flatMap((book) =>
          Option.isSome(book.clientId) ? [[book.clientId.value, book] as const] : [],
        ),
      )
      const isNew = ({ id, legalEntityName }: Client) => known.get(id)?.name !== legalEntityName
      // Makes them one after the other in their order, so that the same clients always get the same codes.
      const books = Effect.forEach(clients, (client) => {
        const book = known.get(client.id)
        return book !== undefined && !isNew(client)
          ? Effect.succeed({ client, book })
          : clientBook(connection, {
              clientId: client.id,
              code: client.code,
              name: client.legalEntityName,
            }).pipe(Effect.map((made) => ({ client, book: made })))
      })
      const run = yield* Run
      return yield* clients.some(isNew) ? run.commit(books) : books
    },
    Effect.provideService(Database, database),
  )

  /** Clients that were read before and are not to be read now, or are no longer in the list. */
  const left = Effect.fn("Sync.Clients.left")(
    function* (connection: string, found: ReadonlyMap<string, Client>, unreadable: ReadonlySet<string>) {
      const rows = yield* database.rows(
        "Sync.Clients.left",
        { book_id: int4 },
        (sql) => sql`
            select b.book_id from mirror.books b
            where b.connection = ${connection} and b.client_id is not null
              and exists (select 1 from mirror.accounts a where a.book_id = b.book_id)`,
      )
      const read = new Set(rows.map(({ book_id: id }) => id))
      const known = (yield* allBooks(Option.some(connection))).flatMap((book) =>
        Option.isSome(book.clientId) && read.has(book.bookId)
          ? [{ clientId: book.clientId.value, book }]
          : [],
      )
      return {
        stopped: known.flatMap(({ book, clientId }) => {
          const client = found.get(clientId)
          return client === undefined || isReadableClient(client)
            ? []
            : [{ book, clientId, status: client.status }]
        }),
        // A client whose row could not be understood is still in the list.
        unlisted: known.filter(({ clientId }) => !found.has(clientId) && !unreadable.has(clientId)),
      }
    },
    Effect.provideService(Database, database),
  )

  /** Reads the list of clients whole. `organization` is the book that the list is kept in. */
  const read = Effect.fn("Sync.Clients.read")(function* (organization: Book) {
    const run = yield* Run
    const found = new Map<string, Client>()
    const unreadable = new Set<string>()
    let beganAt: Option.Option<Instant> | undefined
    yield* readWhole(
      partner.clients,
      ({ id }) => id,
      (page, isWhole) =>
        Effect.gen(function* () {
          beganAt ??= page.askedAt
          const malformed = page.rows.flatMap((row) => (Either.isLeft(row) ? [row.left] : []))
          const clients = page.rows.flatMap((row) => (Either.isRight(row) ? [row.right] : []))
          yield* flood.pass(kind, page.rows.length, malformed)
          yield* run.commit(
            Effect.gen(function* () {
              yield* reference.put(organization, run.runId, kind, nowIso(page.requestedAt), clients)
              yield* quarantine.put(organization, run.runId, kind, malformed)
              yield* quarantine.resolveItems(
                organization,
                kind,
                clients.map(({ id }) => id),
              )
              if (!isWhole) return
              yield* quarantine.resolveStream(organization, kind, run.runId)
              yield* noteReads(organization, [{ stream: "clients", beganAt: beganAt ?? Option.none() }])
            }),
          )
          run.counters.quarantined += malformed.length
          for (const client of clients) found.set(client.id, client)
          for (const { id } of malformed) if (Option.isSome(id)) unreadable.add(id.value)
        }),
    ).pipe(noting(organization, "clients"))
    const listed = [...found.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
    return {
      books: yield* booksOf(organization.connection, listed.filter(isReadableClient)),
      inactive: listed.filter((client) => !isReadableClient(client)),
      ...(yield* left(organization.connection, found, unreadable)),
    } satisfies ListedClients
  })

  return { read, booksOf }
})

export class Clients extends Effect.Service<Clients>()("tieout/Sync/Clients", { effect: made }) {
  static readonly made = Effect.map(made, (parts) => new Clients(parts))
}
