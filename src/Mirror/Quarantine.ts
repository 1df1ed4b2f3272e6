/** Rows that could not be understood, kept raw with the reason until a later read of them can be understood. */
import { createHash } from "node:crypto"
import { Effect, Option } from "effect"
import type { Book } from "../Book.ts"
import { bool, int4, int8, nullable, type RowOf, text } from "../Database/Columns.ts"
import type { DatabaseError } from "../Database/DatabaseError.ts"
import { textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import type { Malformed } from "../Partner.ts"

const quarantinedColumns = {
  quarantineId: int8,
  connection: text,
  bookId: int4,
  /** The book's code. */
  book: text,
  /** `deposits`, `statement:<accountId>`, `destination`, … */
  stream: text,
  itemId: nullable(text),
  reason: text,
  /** JSON path within the row. */
  path: text,
  /** ISO 8601, our clock, as are the other two. */
  firstSeenAt: text,
  lastSeenAt: text,
  /** Null while it waits. */
  resolvedAt: nullable(text),
  /** The run that saw it last. */
  runId: int4,
}

/** A row in quarantine without its content, which is personal data and has a query of its own. */
export type QuarantinedRow = RowOf<typeof quarantinedColumns>

/** Which rows: all of one connection or of all, with the settled ones if asked for; or rows by number. */
export interface WhichRows {
  readonly connection?: Option.Option<string>
  readonly settled?: boolean
  readonly ids?: ReadonlyArray<bigint>
}

/** What people call a row: `Q12`. */
export const quarantineNumber = ({ quarantineId }: Pick<QuarantinedRow, "quarantineId">): string =>
  `Q${quarantineId}`

/** Postgres text cannot hold NUL; JSON text never needs it. */
const storable = (text: string): string => text.replaceAll("\u0000", "\\u0000").toWellFormed()

export class Quarantine extends Effect.Service<Quarantine>()("tieout/Mirror/Quarantine", {
  effect: Effect.gen(function* () {
    const database = yield* Database

    /** Part of the caller's transaction. The same row read again stays one row. */
    const put = Effect.fn("Mirror.Quarantine.put")(function* (
      book: Book,
      runId: number,
      stream: string,
      rows: ReadonlyArray<Malformed>,
    ) {
      for (const row of rows) {
        const raw = storable(row.raw)
        const digest = createHash("sha256").update(raw).digest("hex")
        yield* database.execute(
          "Mirror.Quarantine.put",
          (sql) => sql`
            insert into mirror.quarantine as q (book_id, stream, item_id, raw, reason, path, digest, run_id)
            values (${book.bookId}, ${stream}, ${Option.getOrNull(row.id)}, ${raw}, ${storable(row.reason)},
              ${storable(row.path)}, ${digest}, ${runId})
            on conflict (book_id, stream, digest) do update set
              last_seen_at = now(), resolved_at = null, reason = excluded.reason, path = excluded.path,
              run_id = excluded.run_id`,
        )
      }
    })

    /** Part of the caller's transaction: settles the rows of these items, which could be read after all. */
    const resolveEach = Effect.fn("Mirror.Quarantine.resolveEach")(function* (
      book: Book,
      items: ReadonlyArray<{ readonly stream: string; readonly id: string }>,
    ) {
      if (items.length === 0) return
      yield* database.execute(
        "Mirror.Quarantine.resolveEach",
        (sql) => sql`
          update mirror.quarantine q set resolved_at = now()
          from unnest(${textArray(
            sql,
            items.map(({ stream }) => stream),
          )}, ${textArray(
            sql,
            // All identifiers are kept in lower case here, even those that are not UUIDs, such as a payment rail's `EURO-SEPA`.
            items.map(({ id }) => id.toLowerCase()),
          )}) as t (stream, item_id)
          where q.book_id = ${book.bookId} and q.stream = t.stream and q.item_id = t.item_id and q.resolved_at is null`,
      )
    })

    /** As `resolveEach`, of one stream. */
    const resolveItems = (book: Book, stream: string, ids: ReadonlyArray<string>) =>
      resolveEach(
        book,
        ids.map((id) => ({ stream, id })),
      )

    /** This run read the stream to its end without a gap, so settles what earlier runs could not read of it. */
    const resolveStream = Effect.fn("Mirror.Quarantine.resolveStream")(function* (
      book: Book,
      stream: string,
      runId: number,
    ) {
      yield* database.execute(
        "Mirror.Quarantine.resolveStream",
        (sql) => sql`
          update mirror.quarantine set resolved_at = now()
          where book_id = ${book.bookId} and stream = ${stream} and resolved_at is null and run_id < ${runId}`,
      )
    })

    /** Streams with open rows, and the identifiers in them that can be asked for. */
    const open = Effect.fn("Mirror.Quarantine.open")(function* (book: Book) {
      return yield* database.rows(
        "Mirror.Quarantine.open",
        { stream: text, item_id: nullable(text) },
        (sql) => sql`
          select stream, item_id from mirror.open_quarantine where book_id = ${book.bookId}`,
      )
    })

    /**
     * Streams with open rows. Asked for once, before a book is read: rows that come later are not for this reading to settle.
     */
    const waiting = (book: Book): Effect.Effect<ReadonlySet<string>, DatabaseError> =>
      Effect.map(open(book), (rows) => new Set(rows.map(({ stream }) => stream)))

    /** Part of the caller's transaction. */
    const resolveRows = Effect.fn("Mirror.Quarantine.resolveRows")(function* (ids: ReadonlyArray<bigint>) {
      if (ids.length === 0) return
      yield* database.execute(
        "Mirror.Quarantine.resolveRows",
        (sql) => sql`
          update mirror.quarantine set resolved_at = now()
          where quarantine_id = any (${`{${ids.join(",")}}`}::text::bigint[]) and resolved_at is null`,
      )
    })

    /** Part of the caller's transaction: settles the rows before the gap, of a statement that still has one. */
    const resolveBooked = Effect.fn("Mirror.Quarantine.resolveBooked")(function* (
      book: Book,
      stream: string,
      runId: number,
    ) {
      yield* database.execute(
        "Mirror.Quarantine.resolveBooked",
        (sql) => sql`
          update mirror.quarantine q set resolved_at = now()
          from mirror.statement_entries e
          where q.book_id = ${book.bookId} and q.stream = ${stream} and q.resolved_at is null and q.run_id < ${runId}
            and e.book_id = q.book_id and e.entry_id = mirror.uuid_or_null(q.item_id) and not e.held`,
      )
    })

    const list = Effect.fn("Mirror.Quarantine.list")(function* (which: WhichRows) {
      const connection = Option.getOrNull(which.connection ?? Option.none())
      const ids = which.ids === undefined ? null : `{${which.ids.join(",")}}`
      return yield* database.rows("Mirror.Quarantine.list", quarantinedColumns, (sql) => {
        const instant = (column: string) =>
          sql`to_char(${sql(`q.${column}`)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
        return sql`
          select q.quarantine_id as "quarantineId", b.connection, q.book_id as "bookId", b.code as book, q.stream,
            q.item_id as "itemId", q.reason, q.path, ${instant("first_seen_at")} as "firstSeenAt",
            ${instant("last_seen_at")} as "lastSeenAt", ${instant("resolved_at")} as "resolvedAt", q.run_id as "runId"
          from mirror.quarantine q join mirror.books b on b.book_id = q.book_id
          where (${connection}::text is null or b.connection = ${connection})
            and (q.resolved_at is null or ${which.settled ?? false})
            and (${ids}::text is null or q.quarantine_id = any (${ids}::text::bigint[]))
          order by q.quarantine_id`
      })
    })

    /** The row as the service sent it. Personal data: never logged. */
    const raw = Effect.fn("Mirror.Quarantine.raw")(function* (id: bigint) {
      const rows = yield* database.rows(
        "Mirror.Quarantine.raw",
        { raw: text },
        (sql) => sql`
          select raw from mirror.quarantine where quarantine_id = ${id.toString()}::text::bigint`,
      )
      return rows[0]?.raw ?? ""
    })

    /** Whether the mirror has what the row is about from a later read: then the row is history. */
    const overtaken = Effect.fn("Mirror.Quarantine.overtaken")(function* (row: QuarantinedRow, id: string) {
      const { bookId, lastSeenAt, stream } = row
      const found = yield* database.row(
        "Mirror.Quarantine.overtaken",
        { overtaken: bool },
        (sql) => sql`
          select exists (select 1 from mirror.resources r
              where r.book_id = ${bookId} and r.resource_id = mirror.uuid_or_null(${id})
                and r.resource_type = upper(rtrim(${stream}, 's')) and r.read_at > ${lastSeenAt}::timestamptz)
            or exists (select 1 from mirror.accounts a
              where ${stream} = 'accounts' and a.book_id = ${bookId} and a.account_id = mirror.uuid_or_null(${id})
                and a.balance_read_at > ${lastSeenAt}::timestamptz)
            or exists (select 1 from mirror.reference_items i
              where i.book_id = ${bookId} and i.kind = ${stream} and i.item_id = ${id} and i.current
                and i.read_at > ${lastSeenAt}::timestamptz) as overtaken`,
      )
      return found.overtaken
    })

    return {
      put,
      resolveEach,
      resolveItems,
      resolveStream,
      resolveRows,
      resolveBooked,
      open,
      waiting,
      list,
      raw,
      overtaken,
    }
  }),
}) {}
