/** The accounts of one legal entity on one connection: the organization itself, or one client. */
import { Effect, Option } from "effect"
import type { DatabaseError } from "./Database/DatabaseError.ts"
import { Database } from "./Database.ts"

export interface Book {
  readonly bookId: number
  readonly connection: string
  /** None for the organization's own book. */
  readonly clientId: Option.Option<string>
  /** Leads journal numbers, unique in the database: `ORG`, `PRODUCTION-ORG`. */
  readonly code: string
  readonly name: string
}

const organizationCode = (connection: string): string =>
  connection === "default" ? "ORG" : `${connection.toUpperCase().replaceAll(/[^A-Z0-9_.-]/g, "-")}-ORG`

/** The organization's book of a connection, created where it is not there yet. */
export const organizationBook = Effect.fn("Book.organization")(function* (
  connection: string,
): Effect.fn.Return<Book, DatabaseError, Database> {
  const database = yield* Database
  const code = organizationCode(connection)
  const name = connection === "default" ? "Organization" : `Organization (${connection})`
  const rows = yield* database.query(
    "Book.organization",
    (sql) => sql<Array<{ book_id: number; code: string; name: string }>>`
      with created as (
        insert into mirror.books (connection, code, name) values (${connection}, ${code}, ${name})
        on conflict (connection, client_id) do nothing
        returning book_id, code, name)
      select book_id, code, name from created
      union all
      select book_id, code, name from mirror.books where connection = ${connection} and client_id is null
      limit 1`,
  )
  const row = rows[0]
  if (row === undefined)
    return yield* Effect.dieMessage(`the book of connection ${connection} could not be created`)
  return { bookId: row.book_id, connection, clientId: Option.none(), code: row.code, name: row.name }
})

/** All books, or those of one connection. */
export const allBooks = Effect.fn("Book.all")(function* (
  connection: Option.Option<string>,
): Effect.fn.Return<ReadonlyArray<Book>, DatabaseError, Database> {
  const database = yield* Database
  const wanted = Option.getOrNull(connection)
  const rows = yield* database.query(
    "Book.all",
    (sql) => sql<
      Array<{ book_id: number; connection: string; client_id: string | null; code: string; name: string }>
    >`
      select book_id, connection, client_id, code, name from mirror.books
      where ${wanted}::text is null or connection = ${wanted} order by code`,
  )
  return rows.map((row) => ({
    bookId: row.book_id,
    connection: row.connection,
    clientId: Option.fromNullable(row.client_id),
    code: row.code,
    name: row.name,
  }))
})
