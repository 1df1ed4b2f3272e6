/**
 * How far behind each book is: which of its streams cannot be read and since when, and how long ago its most outdated stream
 * was read. A stream that the service stopped serving for good is a finding of its own and is left out here, and so is one that no
 * surface of the settings reads: no sync will, so that it would be late for ever.
 */
import { Effect } from "effect"
import { float8, int4, nullable, type RowOf, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { Settings } from "../Settings.ts"
import { expected, standing } from "./Checks/Streams.ts"
import { surfacesIn } from "./ReconcileScope.ts"

const readStateColumns = {
  bookId: int4,
  connection: text,
  code: text,
  /** Streams whose last read failed. */
  failing: int4,
  /** Since when the first of them has failed, epoch milliseconds; null if none does. */
  failingSince: nullable(float8),
  /** The first of them: its name, the reason and, where the service answered, its status. */
  stream: nullable(text),
  trouble: nullable(text),
  status: nullable(int4),
  /** Seconds since the most outdated stream was read to its end; null if one never was. */
  lag: nullable(float8),
  /** For how many seconds the book has been known. */
  knownFor: float8,
}

export type ReadState = RowOf<typeof readStateColumns>

/** The lists that a close does not require and that a run reads if the profile has a path for them. */
const tried = ["deposits", "withdrawals", "conversions"] as const

const triedIn = ({ connections, profile }: Pick<Settings, "connections" | "profile">) =>
  Object.keys(connections).flatMap((connection) => {
    const { clientPaths, paths } = profile(connection)
    return tried.flatMap((stream) => [
      ...(paths[stream] === null ? [] : [{ connection, stream, client: false }]),
      ...(clientPaths[stream] === null ? [] : [{ connection, stream, client: true }]),
    ])
  })

/** The books of which the settings read anything, by code. `books`: these alone; null: all. */
export const readStates = Effect.fn("Reconcile.readStates")(function* (books: ReadonlyArray<number> | null) {
  const database = yield* Database
  const settings = yield* Settings
  const ids =
    books ??
    (yield* database.rows(
      "Reconcile.readStates.books",
      { bookId: int4 },
      (sql) => sql`select b.book_id as "bookId" from mirror.books b`,
    )).map(({ bookId }) => bookId)
  const scope = { books: ids, surfaces: surfacesIn(settings), closing: null }
  return yield* database.rows(
    "Reconcile.readStates",
    readStateColumns,
    (sql) => sql`
      with ${expected(sql, scope)},
      tried as (
        select c ->> 'connection' as connection, c ->> 'stream' as stream, (c ->> 'client')::boolean as client
        from json_array_elements(${JSON.stringify(triedIn(settings))}::text::json) c),
      streams as (
        select l.book_id, l.stream, l.has_left from lists l where l.configured
        union
        select r.book_id, r.stream, false from looked k
        join tried t on t.connection = k.connection and t.client = (k.client_id is not null)
        join sync.stream_reads r on r.book_id = k.book_id and r.stream = t.stream and r.trouble is not null
        where k.surface = any (k.surfaces))
      select b.book_id as "bookId", b.connection, b.code, count(s.trouble)::integer as failing,
        (extract(epoch from min(s.failing_since)) * 1000)::float8 as "failingSince",
        (array_agg(e.stream order by s.failing_since, e.stream collate "C") filter (where s.trouble is not null))[1] as stream,
        (array_agg(s.trouble order by s.failing_since, e.stream collate "C") filter (where s.trouble is not null))[1] as trouble,
        (array_agg(s.status order by s.failing_since, e.stream collate "C") filter (where s.trouble is not null))[1] as status,
        case when bool_and(s.ended_at is not null)
          then extract(epoch from now() - min(s.ended_at))::float8 end as lag,
        extract(epoch from now() - b.created_at)::float8 as "knownFor"
      from streams e
      join mirror.books b on b.book_id = e.book_id
      ${standing(sql)}
      where not coalesce(s.gone, false) and coalesce(s.trouble, '') not in ('NoPath', 'Inactive')
        and e.book_id not in (select g.book_id from gone g)
      group by b.book_id, b.connection, b.code, b.created_at
      order by b.code collate "C"`,
  )
})

/** The books of which something cannot be read, the longest first. */
export const unreadBooks = (
  states: ReadonlyArray<ReadState>,
): ReadonlyArray<{ readonly book: ReadState; readonly since: number }> =>
  states
    .flatMap((book) => (book.failingSince === null ? [] : [{ book, since: book.failingSince }]))
    .sort((a, b) => a.since - b.since)

/** Seconds since a book was last read completely or, if it never was, since it became known. */
export const unreadFor = ({ knownFor, lag }: Pick<ReadState, "knownFor" | "lag">): number => lag ?? knownFor

/** What of a book cannot be read: `its list of accounts answers 500`, `its statements (3): Timeout`. */
export const failingText = ({
  failing,
  status,
  stream,
  trouble,
}: Pick<ReadState, "failing" | "status" | "stream" | "trouble">): string => {
  const name = stream?.startsWith("statement:")
    ? "a statement"
    : `the list of ${(stream ?? "").replaceAll("_", " ")}`
  const why = status === null ? `cannot be read (${trouble ?? "unknown"})` : `answers ${status}`
  return `${name} ${why}${failing > 1 ? `, and ${failing - 1} more` : ""}`
}
