/**
 * The books of a run that workers are to read: the leader of the run hands them out, a worker looks them up, and the leader
 * gathers the results.
 */
import { and, eq, isNull } from "drizzle-orm"
import { Effect, Option, Schema } from "effect"
import type { Book } from "../Book.ts"
import { bool, int4, jsonOf, nullable, type RowOf, text, uuid } from "../Database/Columns.ts"
import { bookJobs } from "../Database/Tables/Sync.ts"
import { textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import { counterNames } from "../Run/Counters.ts"
import type { BookAsked, BookResult, BookTask } from "../Sync/Runs/BookJobs.ts"

const Window = Schema.Struct({
  from: Schema.String,
  to: Schema.String,
  start: Schema.String,
  end: Schema.String,
})

const Task = Schema.Struct({
  clientId: Schema.String,
  reads: Schema.Boolean,
  stopped: Schema.NullOr(Schema.String),
  full: Schema.Boolean,
  quick: Schema.Boolean,
  settles: Schema.Boolean,
  window: Schema.NullOr(Window),
})

const Counts = Schema.Record({ key: Schema.String, value: Schema.Number })

const Unread = Schema.Union(
  Schema.Struct({ kind: Schema.Literal("book", "balances") }),
  Schema.Struct({ kind: Schema.Literal("list"), name: Schema.String }),
  Schema.Struct({ kind: Schema.Literal("statement"), accountId: Schema.String, isApart: Schema.Boolean }),
  Schema.Struct({ kind: Schema.Literal("movements"), which: Schema.Literal("open", "window") }),
)

const Account = Schema.Struct({
  book: Schema.String,
  accountId: Schema.String,
  currency: Schema.String,
  entries: Schema.Number,
  opening: Schema.NullOr(Schema.String),
  closing: Schema.NullOr(Schema.String),
  proved: Schema.Boolean,
  breakAt: Schema.NullOr(Schema.String),
  missing: Schema.Array(Schema.String),
  changed: Schema.Array(Schema.String),
  gone: Schema.Array(Schema.String),
  older: Schema.Number,
  unreadable: Schema.Number,
})

const Result = Schema.Struct({
  bookId: Schema.Number,
  newEntries: Counts,
  openResources: Schema.Number,
  failures: Schema.Array(
    Schema.Struct({ unread: Unread, why: Schema.String, stopped: Schema.Boolean, passing: Schema.Boolean }),
  ),
  notices: Schema.Array(Schema.String),
  counters: Schema.Record({ key: Schema.Literal(...counterNames), value: Schema.Number }),
  requests: Counts,
  numbered: Schema.Number,
  findingsOpened: Schema.Number,
  findingsClosed: Schema.Number,
  blockingFindings: Schema.Number,
  resettled: Schema.Number,
  accounts: Schema.Array(Account),
})

/** Forgets what an earlier run of the same command has left, since nobody leads that run any more. */
export const handOut = Effect.fn("Jobs.handOut")(function* (
  runId: number,
  asked: BookAsked,
  tasks: ReadonlyArray<BookTask>,
) {
  const database = yield* Database
  const rows = tasks.map(({ book, clientId, reads, stopped }) => ({
    bookId: String(book.bookId),
    task: JSON.stringify({ ...asked, clientId, reads, stopped: Option.getOrNull(stopped) }),
  }))
  yield* database.transaction(
    Effect.gen(function* () {
      yield* database.execute(
        "Jobs.forgetEarlier",
        (sql) => sql`
          delete from sync.book_jobs j using sync.runs r, sync.runs own
          where own.run_id = ${runId} and r.connection = own.connection and r.command = own.command
            and j.run_id = r.run_id`,
      )
      yield* database.execute(
        "Jobs.handOut",
        (sql) => sql`
          insert into sync.book_jobs (run_id, book_id, task)
          select ${runId}, t.book_id::integer, t.task::jsonb
          from unnest(${textArray(
            sql,
            rows.map(({ bookId }) => bookId),
          )}, ${textArray(
            sql,
            rows.map(({ task }) => task),
          )}) as t (book_id, task)`,
      )
    }),
  )
})

const bookColumns = { book_id: int4, connection: text, client_id: nullable(uuid), code: text, name: text }

const bookOf = ({ book_id: bookId, client_id, ...row }: RowOf<typeof bookColumns>): Book => ({
  ...row,
  bookId,
  clientId: Option.fromNullable(client_id),
})

const idsText = (books: ReadonlyArray<number>): string => `{${books.join(",")}}`

/** The task that a run has for a book. */
export interface Open {
  readonly runId: number
  readonly asked: BookAsked
  readonly task: BookTask
}

/** The tasks that are due for books, syncs before backfills; none if they are done, or if nobody waits for them any more. */
export const toDo = Effect.fn("Jobs.toDo")(function* (books: ReadonlyArray<number>) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Jobs.toDo",
    { run_id: int4, ...bookColumns, task: jsonOf(Task) },
    (sql) => sql`
      select j.run_id, b.book_id, b.connection, b.client_id, b.code, b.name, j.task
      from sync.book_jobs j
      join sync.runs r on r.run_id = j.run_id and r.state = 'running'
      join mirror.books b on b.book_id = j.book_id
      where j.book_id = any (${idsText(books)}::integer[]) and j.result is null
      order by r.command = 'backfill', j.run_id desc, b.code`,
  )
  return rows.map(({ run_id: runId, task, ...row }): Open => {
    const { clientId, reads, stopped, ...asked } = task
    return {
      runId,
      asked,
      task: { book: bookOf(row), clientId, reads, stopped: Option.fromNullable(stopped) },
    }
  })
})

/** Whether a run has ended, or was found abandoned by the next one: nobody waits for its books any more. */
export const hasEnded = Effect.fn("Jobs.hasEnded")(function* (runId: number) {
  const database = yield* Database
  const { ended } = yield* database.row(
    "Jobs.hasEnded",
    { ended: bool },
    (sql) => sql`
      select not exists (select from sync.runs where run_id = ${runId} and state = 'running') as ended`,
  )
  return ended
})

/** The books among these that have events which were handed out. */
export const booksWithEvents = Effect.fn("Jobs.booksWithEvents")(function* (books: ReadonlyArray<number>) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Jobs.booksWithEvents",
    bookColumns,
    (sql) => sql`
      select b.book_id, b.connection, b.client_id, b.code, b.name from mirror.books b
      where b.book_id = any (${idsText(books)}::integer[])
        and exists (select from sync.book_events e where e.book_id = b.book_id)`,
  )
  return rows.map(bookOf)
})

/** Keeps the results for books, once. */
export const keep = Effect.fn("Jobs.keep")(function* (runId: number, results: ReadonlyArray<BookResult>) {
  const database = yield* Database
  yield* database.execute(
    "Jobs.keep",
    (sql) => sql`
      update sync.book_jobs j set result = t.result::jsonb
      from unnest(${idsText(results.map(({ bookId }) => bookId))}::integer[], ${textArray(
        sql,
        results.map((result) => JSON.stringify(result)),
      )}) as t (book_id, result)
      where j.run_id = ${runId} and j.book_id = t.book_id and j.result is null`,
  )
})

/** The results since the last call. */
export const gather = Effect.fn("Jobs.gather")(function* (runId: number) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Jobs.gather",
    { result: jsonOf(Result) },
    (sql) => sql`
      update sync.book_jobs set taken = true where run_id = ${runId} and result is not null and not taken
      returning result`,
  )
  return rows.map(({ result }): BookResult => result)
})

/** Books of a run that nobody has done yet. */
export const unfinishedBooks = Effect.fn("Jobs.left")(function* (runId: number) {
  const database = yield* Database
  const rows = yield* database.orm("Jobs.left", (orm) =>
    orm
      .select({ bookId: bookJobs.bookId })
      .from(bookJobs)
      .where(and(eq(bookJobs.runId, runId), isNull(bookJobs.result)))
      .orderBy(bookJobs.bookId),
  )
  return rows.map(({ bookId }) => bookId)
})

export const forget = Effect.fn("Jobs.forget")(function* (runId: number) {
  const database = yield* Database
  yield* database.orm("Jobs.forget", (orm) => orm.delete(bookJobs).where(eq(bookJobs.runId, runId)))
})
