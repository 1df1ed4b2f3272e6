/** The clients of a connection: every one that may be read is a book. */
import { Effect, Option } from "effect"
import { allBooks, type Book, clientBook } from "../../Book.ts"
import { isReadableClient } from "../../Common/ClientStatus.ts"
import { isoOf } from "../../Common/Time.ts"
import { bool, int4 } from "../../Database/Columns.ts"
import { textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import { Quarantine } from "../../Mirror/Quarantine.ts"
import { ReferenceItems } from "../../Mirror/ReferenceItems.ts"
import type { Instant } from "../../Partner/Instant.ts"
import { malformedRows, Shown, understoodRows } from "../../Partner/Lists/Page.ts"
import { readWhole } from "../../Partner/Lists/WholeList.ts"
import { type Client, PartnerConnection } from "../../Partner.ts"
import { Run } from "../../Run.ts"
import { noteReads, noting } from "./Evidence.ts"
import { FloodGate } from "./FloodGate.ts"

const kind = "client"

/** A client's book that is to be read. */
export interface Served {
  readonly book: Book
  readonly clientId: string
}

/** A client that was read before and is not to be read now, and why. */
export interface StoppedClient extends Served {
  readonly detail: string
}

export interface ListedClients {
  /** By identifier, in its order. */
  readonly books: ReadonlyArray<{ readonly client: Client; readonly book: Book }>
  /** Listed, but not to be read. */
  readonly inactive: ReadonlyArray<Client>
  /** Clients that were read before and are not to be read any more, and why. */
  readonly stopped: ReadonlyArray<StoppedClient>
  /** Clients with accounts that the list no longer shows, and those whose row could not be understood. Their paths may still be open. */
  readonly unlisted: ReadonlyArray<Served>
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

  /**
   * Clients that were read before and are not to be read now, or are no longer in the list. One that never had an account has nothing
   * that could be read on: it is noted once. `isWhole`: what the list has not `shown` in any form is not in it.
   */
  const left = Effect.fn("Sync.Clients.left")(
    function* (
      connection: string,
      found: ReadonlyMap<string, Client>,
      { isWhole, shown }: { readonly isWhole: boolean; readonly shown: ReadonlySet<string> },
    ) {
      const rows = yield* database.rows(
        "Sync.Clients.left",
        { book_id: int4, holds: bool },
        (sql) => sql`
            select c.book_id, c.holds from (
              select b.book_id, exists (select 1 from mirror.accounts a where a.book_id = b.book_id) as holds, r.trouble
              from mirror.books b
              left join sync.stream_reads r on r.book_id = b.book_id and r.stream = 'accounts'
              where b.connection = ${connection} and b.client_id is not null) c
            where c.holds or c.trouble is distinct from 'Inactive'`,
      )
      const holding = new Map(rows.map(({ book_id: id, holds }) => [id, holds] as const))
      const stopped: Array<StoppedClient> = []
      const unlisted: Array<Served> = []
      for (const book of yield* allBooks(Option.some(connection))) {
        const holds = holding.get(book.bookId)
        if (Option.isNone(book.clientId) || holds === undefined) continue
        const served = { book, clientId: book.clientId.value }
        const client = found.get(served.clientId)
        if (client !== undefined) {
          if (!isReadableClient(client))
            stopped.push({ ...served, detail: `the service lists the client as ${client.status}` })
        } else if (holds || shown.has(served.clientId)) unlisted.push(served)
        else if (isWhole) stopped.push({ ...served, detail: "the service does not list the client any more" })
      }
      return { stopped, unlisted }
    },
    Effect.provideService(Database, database),
  )

  /** Reads the list of clients whole. `organization` is the book that the list is kept in. */
  const read = Effect.fn("Sync.Clients.read")(function* (organization: Book) {
    const run = yield* Run
    const found = new Map<string, Client>()
    const shown = new Shown<Client>(({ id }) => id)
    let isWholeList = false
    let beganAt: Option.Option<Instant> | undefined
    yield* readWhole(
      partner.clients,
      ({ id }) => id,
      (page, isWhole) =>
        Effect.gen(function* () {
          beganAt ??= page.askedAt
          isWholeList = isWhole
          const malformed = malformedRows(page)
          const clients = understoodRows(page)
          yield* flood.pass(kind, page.rows.length, malformed)
          const more = yield* quarantine.more(organization, kind, malformed)
          yield* run.commit(
            Effect.gen(function* () {
              yield* reference.put(organization, run.runId, kind, isoOf(page.requestedAt), clients)
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
          run.counters.quarantined += more
          for (const client of clients) found.set(client.id, client)
          shown.take(page)
        }),
    ).pipe(noting(organization, "clients"))
    const listed = [...found.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
    return {
      books: yield* booksOf(organization.connection, listed.filter(isReadableClient)),
      inactive: listed.filter((client) => !isReadableClient(client)),
      ...(yield* left(organization.connection, found, {
        isWhole: isWholeList && Option.isSome(shown.all),
        shown: shown.ids,
      })),
    } satisfies ListedClients
  })

  /** Whether some clients are neither a book nor in the list, as it was last read. */
  const someUnknown = Effect.fn("Sync.Clients.someUnknown")(function* (
    organization: Book,
    clients: ReadonlyArray<string>,
  ) {
    const { unknown } = yield* database.row(
      "Sync.Clients.someUnknown",
      { unknown: bool },
      (sql) => sql`
          select exists (
            select 1 from unnest(${textArray(sql, clients)}::uuid[]) as c (id)
            where not exists (select 1 from mirror.books b where b.connection = ${organization.connection} and b.client_id = c.id)
              and not exists (select 1 from mirror.reference_items l
                              where l.book_id = ${organization.bookId} and l.kind = 'client' and l.item_id = c.id::text and l.current)
            ) as unknown`,
    )
    return unknown
  })

  /**
   * Reads the list again, once, where something names a client that it lacks: the client is newer, or the list could not be read.
   * A book that is made without it keeps a code that is not its client's.
   */
  const knowing = (organization: Book) => {
    let asked = false
    return (named: ReadonlyArray<string>) =>
      Effect.gen(function* () {
        if (asked || !(yield* someUnknown(organization, [...new Set(named)]))) return
        yield* read(organization)
        asked = true
      })
  }

  return { read, booksOf, knowing }
})

export class Clients extends Effect.Service<Clients>()("tieout/Sync/Clients", { effect: made }) {
  static readonly made = Effect.map(made, (parts) => new Clients(parts))
}
