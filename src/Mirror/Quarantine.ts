/** Rows that could not be understood, kept raw with the reason until a later read of them can be understood. */
import { createHash } from "node:crypto"
import { and, eq, sql as fragment, isNull } from "drizzle-orm"
import { Effect, Option } from "effect"
import type { Book } from "../Book.ts"
import { traced } from "../Common/Effects/Traced.ts"
import { bool, nullable, text } from "../Database/Columns.ts"
import type { DatabaseError } from "../Database/DatabaseError.ts"
import { isoText, isoTextOrNull } from "../Database/Tables/ColumnTypes.ts"
import { books, quarantine } from "../Database/Tables/Mirror.ts"
import { columnsOf, textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import type { Malformed } from "../Partner/Lists/Page.ts"
import { acceptedStreams, streamOfBook } from "./AcceptedStreams.ts"
import type { QuarantinedRow, WhichRows } from "./QuarantinedRow.ts"

/** Postgres text cannot hold NUL; JSON text never needs it. */
const storable = (text: string): string => text.replaceAll("\u0000", "\\u0000").toWellFormed()

const digestOf = ({ raw }: Malformed): string => createHash("sha256").update(storable(raw)).digest("hex")

const made = Effect.gen(function* () {
  const database = yield* Database

  /** Part of the caller's transaction. The same row read again stays one row. */
  const put = traced("Mirror.Quarantine.put")(function* (
    book: Book,
    runId: number,
    stream: string,
    rows: ReadonlyArray<Malformed>,
  ) {
    for (const row of rows) {
      const raw = storable(row.raw)
      yield* database.execute(
        "Mirror.Quarantine.put",
        (sql) => sql`
            insert into mirror.quarantine as q (book_id, stream, item_id, raw, reason, path, digest, run_id)
            values (${book.bookId}, ${stream}, ${Option.getOrNull(row.id)}, ${raw}, ${storable(row.reason)},
              ${storable(row.path)}, ${digestOf(row)}, ${runId})
            on conflict (book_id, stream, digest) do update set
              last_seen_at = now(), resolved_at = null, reason = excluded.reason, path = excluded.path,
              run_id = excluded.run_id`,
      )
    }
  })

  /** Those that are not in quarantine yet. */
  const unknown = traced("Mirror.Quarantine.unknown")(function* (
    book: Book,
    stream: string,
    rows: ReadonlyArray<Malformed>,
  ) {
    if (rows.length === 0) return rows
    const waits = yield* database.rows(
      "Mirror.Quarantine.unknown",
      { digest: text },
      (sql) => sql`
          select digest from mirror.open_quarantine
          where book_id = ${book.bookId} and stream = ${stream} and digest = any (${textArray(sql, rows.map(digestOf))})`,
    )
    const known = new Set(waits.map(({ digest }) => digest))
    return rows.filter((row) => !known.has(digestOf(row)))
  })

  /** How many more rows will wait there once these are put: the same row read again stays one. */
  const more = (book: Book, stream: string, rows: ReadonlyArray<Malformed>) =>
    Effect.map(unknown(book, stream, rows), (fresh) => new Set(fresh.map(digestOf)).size)

  /** Part of the caller's transaction: settles the rows of these items, which could be read after all. */
  const resolveEach = traced("Mirror.Quarantine.resolveEach")(function* (
    book: Book,
    items: ReadonlyArray<{ readonly stream: string; readonly id: string }>,
  ) {
    if (items.length === 0) return
    const streams = [...new Set(items.map(({ stream }) => stream))]
    // No index knows the items, so that a join would go through all open rows of a stream for each. That it is compared with true keeps
    // this a table of what is asked for, in which each row is looked up.
    yield* database.execute("Mirror.Quarantine.resolveEach", (sql) => {
      const { text } = columnsOf(sql, items)
      return sql`
          update mirror.quarantine q set resolved_at = now()
          where q.book_id = ${book.bookId} and q.stream = any (${textArray(sql, streams)}) and q.resolved_at is null
            and ((q.stream, q.item_id) in (
              select t.stream, t.item_id
              from unnest(${text(({ stream }) => stream)}, ${
                // All identifiers are kept in lower case here, even those that are not UUIDs, such as a payment rail's `EURO-SEPA`.
                text(({ id }) => id.toLowerCase())
              }) as t (stream, item_id))) is true`
    })
  })

  /** As `resolveEach`, of one stream. */
  const resolveItems = (book: Book, stream: string, ids: ReadonlyArray<string>) =>
    resolveEach(
      book,
      ids.map((id) => ({ stream, id })),
    )

  /**
   * Part of the caller's transaction. This run read the stream whole and without a gap: settles what earlier runs could not read of
   * it, which was read after all or is no longer there. `canBeAsked`: a row with an identifier only once the service has answered
   * that there is no such movement.
   */
  const resolveStream = Effect.fn("Mirror.Quarantine.resolveStream")(function* (
    book: Book,
    stream: string,
    runId: number,
    canBeAsked = false,
  ) {
    yield* database.execute(
      "Mirror.Quarantine.resolveStream",
      (sql) => sql`
          update mirror.quarantine q set resolved_at = now()
          where q.book_id = ${book.bookId} and q.stream = ${stream} and q.resolved_at is null and q.run_id < ${runId}
            and (not ${canBeAsked} or mirror.uuid_or_null(q.item_id) is null or exists (
              select 1 from mirror.missing_resources m
              where m.book_id = q.book_id and m.resource_id = mirror.uuid_or_null(q.item_id)))`,
    )
  })

  /** Streams with open rows, and the identifiers in them that can be asked for. */
  const open = traced("Mirror.Quarantine.open")(function* (book: Book) {
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
          where quarantine_id = any (${`{${ids.join(",")}}`}::bigint[]) and resolved_at is null`,
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

  const list = Effect.fn("Mirror.Quarantine.list")(function* ({ connection, ids, settled }: WhichRows) {
    const rows = yield* database.orm("Mirror.Quarantine.list", (orm) =>
      orm
        .select({
          quarantineId: quarantine.quarantineId,
          connection: books.connection,
          bookId: quarantine.bookId,
          book: books.code,
          stream: quarantine.stream,
          itemId: quarantine.itemId,
          reason: quarantine.reason,
          path: quarantine.path,
          firstSeenAt: isoText(quarantine.firstSeenAt),
          lastSeenAt: isoText(quarantine.lastSeenAt),
          resolvedAt: isoTextOrNull(quarantine.resolvedAt),
          runId: quarantine.runId,
        })
        .from(quarantine)
        .innerJoin(books, eq(books.bookId, quarantine.bookId))
        .where(
          and(
            ...Option.toArray(Option.map(connection ?? Option.none(), (name) => eq(books.connection, name))),
            settled === true ? undefined : isNull(quarantine.resolvedAt),
            ids === undefined
              ? undefined
              : fragment`${quarantine.quarantineId} = any (${`{${ids.join(",")}}`}::bigint[])`,
          ),
        )
        .orderBy(quarantine.quarantineId),
    )
    const open = new Set(rows.flatMap(({ bookId, resolvedAt }) => (resolvedAt === null ? bookId : [])))
    const accepted = open.size === 0 ? new Map<string, string>() : yield* acceptedStreams([...open])
    return rows.map((row): QuarantinedRow => {
      const month = accepted.get(streamOfBook(row.bookId, row.stream))
      return { ...row, acceptedAt: row.resolvedAt === null ? (month ?? null) : null }
    })
  })

  /** The row as the service sent it. Personal data: never logged. */
  const raw = Effect.fn("Mirror.Quarantine.raw")(function* (id: bigint) {
    const [row] = yield* database.orm("Mirror.Quarantine.raw", (orm) =>
      orm.select({ raw: quarantine.raw }).from(quarantine).where(eq(quarantine.quarantineId, id)),
    )
    return row?.raw ?? ""
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
                and r.resource_type = mirror.upper_ascii(rtrim(${stream}, 's')) and r.read_at > ${lastSeenAt}::timestamptz)
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
    unknown,
    more,
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
})

export class Quarantine extends Effect.Service<Quarantine>()("tieout/Mirror/Quarantine", { effect: made }) {
  static readonly made = Effect.map(made, (parts) => new Quarantine(parts))
}
