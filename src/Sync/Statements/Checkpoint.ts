/** How far a stream has been read: committed together with what was read. */
import { Effect, Option } from "effect"
import type { Book } from "../../Book.ts"
import { traced } from "../../Common/Effects/Traced.ts"
import { bool, nullable, oneOf, text } from "../../Database/Columns.ts"
import { textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import { Run } from "../../Run.ts"

const orderings = ["oldest-first", "newest-first", "unordered"] as const
export type Ordering = (typeof orderings)[number]

export interface Checkpoint {
  /** The cursor to ask with next; none: from the start. It leads to the last page that was read. */
  readonly cursor: Option.Option<string>
  /**
   * Identifier of the first item on that page; none where it has not been read. Of a newest-first list that was read to its end, that of
   * its newest item.
   */
  readonly leadsTo: Option.Option<string>
  readonly ordering: Option.Option<Ordering>
  /** The end, or rows known before, have been reached since the stream was last begun at its start. */
  readonly complete: boolean
}

export const beginning: Checkpoint = {
  cursor: Option.none(),
  leadsTo: Option.none(),
  ordering: Option.none(),
  complete: false,
}

export const statementStream = (accountId: string): string => `statement:${accountId}`

const checkpointColumns = {
  stream: text,
  cursor: nullable(text),
  leads_to: nullable(text),
  ordering: nullable(oneOf(...orderings)),
  complete: bool,
}

/** Checkpoints of a book, by stream: all, or those of these streams. */
export const checkpoints = traced("Sync.checkpoints")(function* (
  book: Book,
  streams: ReadonlyArray<string> | null = null,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Sync.checkpoints",
    checkpointColumns,
    (sql) => sql`
      select stream, cursor, leads_to, ordering, complete from sync.checkpoints
      where book_id = ${book.bookId} ${streams === null ? sql`` : sql`and stream = any (${textArray(sql, streams)})`}`,
  )
  return new Map(
    rows.map((row): [string, Checkpoint] => [
      row.stream,
      {
        cursor: Option.fromNullable(row.cursor),
        leadsTo: Option.fromNullable(row.leads_to),
        ordering: Option.fromNullable(row.ordering),
        complete: row.complete,
      },
    ]),
  )
})

export const checkpointOf = (book: Book, stream: string) =>
  Effect.map(checkpoints(book, [stream]), (found) => Option.fromNullable(found.get(stream)))

/** Postgres text cannot hold NUL. Without its cursor a stream is read from its start. */
const storable = (cursor: string | null): string | null => (cursor?.includes("\0") === true ? null : cursor)

/** Part of the caller's transaction. */
export const saveCheckpoint = Effect.fn("Sync.saveCheckpoint")(function* (
  book: Book,
  stream: string,
  checkpoint: Checkpoint,
) {
  const database = yield* Database
  const { runId } = yield* Run
  yield* database.execute(
    "Sync.saveCheckpoint",
    (sql) => sql`
      insert into sync.checkpoints (book_id, stream, cursor, leads_to, ordering, complete, run_id)
      values (${book.bookId}, ${stream}, ${storable(Option.getOrNull(checkpoint.cursor))},
        ${Option.getOrNull(checkpoint.leadsTo)}, ${Option.getOrNull(checkpoint.ordering)}, ${checkpoint.complete}, ${runId})
      on conflict (book_id, stream) do update set cursor = excluded.cursor, leads_to = excluded.leads_to,
        ordering = excluded.ordering, complete = excluded.complete, run_id = excluded.run_id, updated_at = now()`,
  )
})

/** How far a statement page brought an account. */
export interface StatementProgress {
  /** The last good entry of the page; null where there was none. */
  readonly head: {
    readonly position: bigint
    /** In the account's currency, major unit, as text. */
    readonly balance: string
    readonly entryId: string
    readonly occurredAt: string
  } | null
  /** Where reading goes on, none: from the start; null where that has not moved. */
  readonly place: Pick<Checkpoint, "cursor" | "leadsTo"> | null
  /** Where the statement continues behind the head; null where the service does not say, or where the chain is broken. */
  readonly boundary: string | null
}

/**
 * Part of the caller's transaction: the account's head, the checkpoint and the page's boundary in one statement, since
 * they come with every page.
 */
export const saveStatementProgress = traced("Sync.saveStatementProgress")(function* (
  book: Book,
  accountId: string,
  { boundary: found, head, place }: StatementProgress,
) {
  const boundary = storable(found)
  const cursor = place === null ? null : storable(Option.getOrNull(place.cursor))
  const database = yield* Database
  const { runId } = yield* Run
  yield* database.execute(
    "Sync.saveStatementProgress",
    (sql) => sql`
      with head as (
        update mirror.accounts set entries = ${head?.position ?? null}, last_entry_id = ${head?.entryId ?? null},
          last_balance = ${head?.balance ?? null}::text::numeric, last_occurred_at = ${head?.occurredAt ?? null}
        where ${head !== null} and book_id = ${book.bookId} and account_id = ${accountId}),
      boundary as (
        insert into sync.page_boundaries (book_id, account_id, position, cursor, occurred_at)
        select ${book.bookId}, ${accountId}, ${head?.position ?? null}::bigint, ${boundary}::text,
          ${head?.occurredAt ?? null}::timestamptz
        where ${head !== null && boundary !== null}
        on conflict (book_id, account_id, position) do update set cursor = excluded.cursor)
      insert into sync.checkpoints (book_id, stream, cursor, leads_to, complete, run_id)
      select ${book.bookId}, ${statementStream(accountId)}, ${cursor}::text,
        ${place === null ? null : Option.getOrNull(place.leadsTo)}::text, true, ${runId}
      where ${place !== null}
      on conflict (book_id, stream) do update set cursor = excluded.cursor, leads_to = excluded.leads_to,
        run_id = excluded.run_id, updated_at = now()`,
  )
})

/**
 * The newest page boundaries of an account, newest first: where reading resumes when the stored cursor has expired, or leads past
 * entries or to nothing. `before`: only those before this place, without a cursor that stands behind it as well, since a page without
 * entries may name one of its own. `tried`: a cursor that was asked with already.
 */
export const newestBoundaries = Effect.fn("Sync.newestBoundaries")(function* (
  book: Book,
  accountId: string,
  wanted: {
    readonly count: number
    readonly before: Option.Option<bigint>
    readonly tried: Option.Option<string>
  },
) {
  const database = yield* Database
  const before = Option.getOrNull(wanted.before)
  return yield* database.rows(
    "Sync.newestBoundaries",
    { cursor: text },
    (sql) => sql`
      select b.cursor from sync.page_boundaries b
      where b.book_id = ${book.bookId} and b.account_id = ${accountId}
        and b.cursor is distinct from ${Option.getOrNull(wanted.tried)}
        and (${before}::bigint is null or b.position < ${before}::bigint and not exists (
          select from sync.page_boundaries last
          where last.book_id = b.book_id and last.account_id = b.account_id and last.position = ${before}::bigint
            and last.cursor = b.cursor))
      order by b.position desc limit ${wanted.count}`,
  )
})
