/** The accounts of one legal entity on one connection: the organization itself, or one client. */
import { Effect, Option } from "effect"
import type { Sql } from "./Database/Client.ts"
import { int4, nullable, text, uuid } from "./Database/Columns.ts"
import type { DatabaseError } from "./Database/DatabaseError.ts"
import { plainArray } from "./Database/TextArray.ts"
import { Database } from "./Database.ts"

export interface Book {
  readonly bookId: number
  readonly connection: string
  /** None: the organization's own book. */
  readonly clientId: Option.Option<string>
  /** Leads journal numbers, unique in the database: `ORG`, `PRODUCTION-ORG`. */
  readonly code: string
  readonly name: string
}

/** The folder that a book's exports and reports stand in. */
export const bookFolder = ({ code, connection }: Pick<Book, "code" | "connection">): string =>
  `${connection}-${code}`.replaceAll(/[^A-Za-z0-9._-]/g, "-")

/** A function of the connection alone: known without the database. */
export const organizationCode = (connection: string): string =>
  connection === "default" ? "ORG" : `${connection.toUpperCase().replaceAll(/[^A-Z0-9_.-]/g, "-")}-ORG`

const ownColumns = { book_id: int4, code: text, name: text }

/** The organization's book of a connection, created on first use. */
export const organizationBook = Effect.fn("Book.organization")(function* (
  connection: string,
): Effect.fn.Return<Book, DatabaseError, Database> {
  const database = yield* Database
  const code = organizationCode(connection)
  const name = connection === "default" ? "Organization" : `Organization (${connection})`
  const asked = (again: boolean) => (sql: Sql) =>
    sql`
    with created as (
      insert into mirror.books (connection, code, name) values (${connection}, ${code}, ${name})
      on conflict ${again ? sql`(connection, client_id)` : sql``} do nothing
      returning book_id, code, name)
    select book_id, code, name from created
    union all
    select book_id, code, name from mirror.books where connection = ${connection} and client_id is null
    limit 1`
  // Of two first runs at once, the one that waited finds the other's book only when it asks again.
  const [first] = yield* database.rows("Book.organization", ownColumns, asked(false))
  const row = first ?? (yield* database.row("Book.organization", ownColumns, asked(true)))
  return { bookId: row.book_id, connection, clientId: Option.none(), code: row.code, name: row.name }
})

const codeChars = (text: string): string => text.toUpperCase().replaceAll(/[^A-Z0-9_.-]+/g, "-")

/**
 * What other numbers begin with: those of an organization's book, whose code follows from its connection alone and must be free
 * whenever that connection is first read, and a book's own in the base-currency journal (`ORG-FX-2026-10-000001`).
 */
const isOthers = (code: string): boolean => /(?:^|-)(?:ORG|FX)$/.test(code)

/** Candidates for the code of a client's book, the best first: a code is unique in the database, with at most 40 characters. */
const clientCodes = (connection: string, clientId: string, clientCode: string): ReadonlyArray<string> => {
  const prefix = connection === "default" ? "" : `${codeChars(connection).slice(0, 15)}-`
  const plain = codeChars(clientCode).replaceAll(/^[^A-Z0-9]+|[^A-Z0-9]+$/g, "")
  const short = clientId.slice(0, 8).toUpperCase()
  const whole = clientId.replaceAll("-", "").toUpperCase()
  const named = `${prefix}${plain}`
  const byName = plain === "" ? [] : [named.slice(0, 40), `${named.slice(0, 31)}-${short}`]
  return [...byName.filter((code) => !isOthers(code)), `${prefix}${short}`, whole]
}

/**
 * The book of a client, created on first use. It keeps its first code even when the client is renamed: journal numbers begin
 * with it.
 */
export const clientBook = Effect.fn("Book.client")(function* (
  connection: string,
  client: { readonly clientId: string; readonly code: string; readonly name: string },
): Effect.fn.Return<Book, DatabaseError, Database> {
  const database = yield* Database
  const codes = clientCodes(connection, client.clientId, client.code)
  const asked = (sql: Sql) => sql`
      with wanted as (
        select w.code from unnest(${plainArray(sql, codes)}) with ordinality as w (code, place)
        where not exists (select 1 from mirror.books b where b.code = w.code) order by w.place limit 1),
      created as (
        insert into mirror.books (connection, client_id, code, name)
        select ${connection}, ${client.clientId}, code, ${client.name} from wanted
        where not exists (select 1 from mirror.books
                          where connection = ${connection} and client_id = ${client.clientId})
        on conflict do nothing
        returning book_id, code, name),
      renamed as (
        update mirror.books set name = ${client.name}
        where connection = ${connection} and client_id = ${client.clientId} and name <> ${client.name})
      select book_id, code, name from created
      union all
      select book_id, code, name from mirror.books where connection = ${connection} and client_id = ${client.clientId}
      limit 1`
  // As above, with the next code if another client's book has just taken the first one.
  const [first] = yield* database.rows("Book.client", ownColumns, asked)
  const row = first ?? (yield* database.row("Book.client", ownColumns, asked))
  return {
    bookId: row.book_id,
    connection,
    clientId: Option.some(client.clientId),
    code: row.code,
    name: row.name,
  }
})

/** The books that have accounts: an organization's book that only serves its clients has none. */
export const heldBooks = Effect.fn("Book.held")(function* (books: ReadonlyArray<Book>) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Book.held",
    { book_id: int4 },
    (sql) => sql`
      select b.book_id from mirror.books b
      where exists (select 1 from mirror.accounts a where a.book_id = b.book_id)
        or exists (select 1 from ledger.accounts l where l.book_id = b.book_id)`,
  )
  const held = new Set(rows.map(({ book_id: id }) => id))
  return books.filter(({ bookId }) => held.has(bookId))
})

const bookColumns = { book_id: int4, connection: text, client_id: nullable(uuid), code: text, name: text }

/** All books, or those of one connection. Plain SQL: everything that looks at books begins with it, often many times a command. */
export const allBooks = Effect.fn("Book.all")(function* (
  connection: Option.Option<string>,
): Effect.fn.Return<ReadonlyArray<Book>, DatabaseError, Database> {
  const database = yield* Database
  const rows = yield* database.rows(
    "Book.all",
    bookColumns,
    (sql) => sql`
      select book_id, connection, client_id, code, name from mirror.books
      where ${Option.match(connection, {
        onNone: () => sql`true`,
        onSome: (name) => sql`connection = ${name}`,
      })}
      order by code`,
  )
  return rows.map((row) => ({
    bookId: row.book_id,
    connection: row.connection,
    clientId: Option.fromNullable(row.client_id),
    code: row.code,
    name: row.name,
  }))
})
