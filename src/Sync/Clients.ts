/** The clients of a connection: every one that may be read is a book. */
import { Effect, Either, Option, Stream } from "effect"
import { allBooks, type Book, clientBook } from "../Book.ts"
import { Database } from "../Database.ts"
import { Quarantine } from "../Mirror/Quarantine.ts"
import { ReferenceItems } from "../Mirror/ReferenceItems.ts"
import { type Client, PartnerConnection } from "../Partner.ts"
import { FloodGate } from "./Page.ts"
import { nowIso, Run } from "./Run.ts"

const kind = "client"

/** Those whose paths are open: `ACTIVE` by both surfaces, `APPROVED` as the credit surface's cases have it. */
const isReadable = ({ status }: Client): boolean => status === "ACTIVE" || status === "APPROVED"

export interface ListedClients {
  /** By identifier, in its order. */
  readonly books: ReadonlyArray<{ readonly client: Client; readonly book: Book }>
  /** Listed, but not to be read. */
  readonly inactive: ReadonlyArray<Client>
}

export class Clients extends Effect.Service<Clients>()("tieout/Sync/Clients", {
  effect: Effect.gen(function* () {
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
        // One after the other and in their order, so that the same clients always get the same codes.
        return yield* Effect.forEach(clients, (client) => {
          const book = known.get(client.id)
          return book !== undefined && book.name === client.legalEntityName
            ? Effect.succeed({ client, book })
            : clientBook(connection, {
                clientId: client.id,
                code: client.code,
                name: client.legalEntityName,
              }).pipe(Effect.map((made) => ({ client, book: made })))
        })
      },
      Effect.provideService(Database, database),
    )

    /** Reads the list of clients whole. `organization` is the book that the list is kept in. */
    const read = Effect.fn("Sync.Clients.read")(function* (organization: Book) {
      const run = yield* Run
      const found = new Map<string, Client>()
      yield* partner.clients(Option.none()).pipe(
        Stream.runForEach((page) =>
          Effect.gen(function* () {
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
              }),
            )
            run.counters.quarantined += malformed.length
            for (const client of clients) found.set(client.id, client)
          }),
        ),
      )
      const listed = [...found.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
      return {
        books: yield* booksOf(organization.connection, listed.filter(isReadable)),
        inactive: listed.filter((client) => !isReadable(client)),
      } satisfies ListedClients
    })

    return { read, booksOf }
  }),
}) {}
