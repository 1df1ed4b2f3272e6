/**
 * The lease of a connection, or of one of its books, and the fence: every transaction of a run first proves that the run still
 * holds its lease, so that a process that stalled and was overtaken writes nothing.
 */
import { Data, Effect, Option } from "effect"
import type { Book } from "../Book.ts"
import { int4, int8, type RowOf } from "../Database/Columns.ts"
import type { DatabaseError } from "../Database/DatabaseError.ts"
import { Database } from "../Database.ts"

/** A later run has taken the connection: this one stops and writes nothing more. */
export class LeaseLost extends Data.TaggedError("LeaseLost")<{
  readonly connection: string
  readonly runId: number
}> {
  override get message(): string {
    return `Run ${this.runId} of connection ${this.connection} was overtaken by a later one and stopped; nothing of it is half-written. Check with: tieout status.`
  }
}

/** Runs an effect as one transaction that commits only while the run holds the lease. */
export type Commit = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
) => Effect.Effect<A, E | DatabaseError | LeaseLost, R>

/** What a run has taken: one book, or its whole connection. */
export interface Taken {
  readonly connection: string
  readonly book: Option.Option<Book>
}

const leaseColumns = {
  runId: int4,
  epoch: int8,
}

export interface Lease extends RowOf<typeof leaseColumns> {
  readonly taken: Taken
}

/** The row of the connection as a whole. */
const wholeConnection = 0

const rowOf = ({ book }: Taken): number =>
  Option.match(book, { onNone: () => wholeConnection, onSome: ({ bookId }) => bookId })

const leaseOf = Effect.fnUntraced(function* (connection: string, row: number, runId: number) {
  const database = yield* Database
  return yield* database.row(
    "Sync.takeLease",
    // As it was when the statement began.
    { ...leaseColumns, before: int4 },
    (sql) => sql`
      insert into sync.leases as l (connection, book_id, epoch, run_id) values (${connection}, ${row}, 1, ${runId})
      on conflict (connection, book_id) do update set epoch = l.epoch + 1, run_id = excluded.run_id, taken_at = now()
      returning run_id as "runId", epoch, coalesce((
          select b.run_id from sync.leases b where b.connection = ${connection} and b.book_id = ${row}), 0) as before`,
  )
})

/** The stream whose checkpoint names, for each book, the run up to which its receivables have taken all cash into account. */
export const loansStream = "loans"

/**
 * A run may write to books whose receivables a later run has settled, or this one by a task that is done once more: what it writes
 * is looked at again. Part of the transaction that takes the lease, so that nothing is forgotten if the run is killed.
 */
const lookAgain = Effect.fn("Sync.lookAgain")(function* (
  connection: string,
  books: Option.Option<ReadonlyArray<Book>>,
  runId: number,
) {
  const database = yield* Database
  const ids = Option.getOrNull(Option.map(books, (some) => `{${some.map(({ bookId }) => bookId).join(",")}}`))
  yield* database.execute(
    "Sync.lookAgain",
    (sql) => sql`
      update sync.checkpoints c set cursor = (${runId}::integer - 1)::text
      from mirror.books b
      where b.connection = ${connection} and c.book_id = b.book_id and c.stream = ${loansStream}
        and (${ids}::integer[] is null or b.book_id = any (${ids}::integer[]))
        -- Other streams have cursors of the service's.
        and case when c.stream = ${loansStream} then c.cursor::integer end >= ${runId}`,
  )
})

/**
 * Takes the lease of a connection, or of one of its books, for a run: the runs that held any of it can write nothing more. The
 * connection's row comes first, so that two runs that take leases at once cannot wait for each other in a circle.
 */
export const takeLease = Effect.fn("Sync.takeLease")(function* (taken: Taken, runId: number) {
  const { connection } = taken
  const database = yield* Database
  const lease = (row: number) => leaseOf(connection, row, runId)
  const books = database.execute(
    "Sync.takeBooks",
    (sql) => sql`
      update sync.leases set epoch = epoch + 1, run_id = ${runId}, taken_at = now()
      where connection = ${connection} and book_id <> ${wholeConnection}`,
  )
  return yield* database.transaction(
    Effect.gen(function* () {
      const { before, ...whole } = yield* lease(wholeConnection)
      // A backfill takes the lease again and again, and mostly nobody has had it since.
      if (before > runId) yield* lookAgain(connection, Option.none(), runId)
      if (Option.isSome(taken.book)) {
        const { epoch } = yield* lease(rowOf(taken))
        return { runId, epoch, taken } satisfies Lease
      }
      yield* books
      return { ...whole, taken } satisfies Lease
    }),
  )
})

/** The lease of a book, and whether the same run had it before: by a process that is gone. */
export interface BookLease extends Lease {
  readonly book: Book
  readonly again: boolean
}

/** The same for several books at once, in their order. Part of the caller's transaction. */
export const takeLeases = Effect.fn("Sync.takeLeases")(function* (
  connection: string,
  books: ReadonlyArray<Book>,
  runId: number,
) {
  const database = yield* Database
  yield* leaseOf(connection, wholeConnection, runId)
  const rows = yield* database.rows(
    "Sync.takeLeases",
    // As it was when the statement began.
    { ...leaseColumns, bookId: int4, before: int4 },
    (sql) => sql`
      insert into sync.leases as l (connection, book_id, epoch, run_id)
      select ${connection}, b, 1, ${runId} from unnest(${`{${books.map(({ bookId }) => bookId).join(",")}}`}::integer[]) b
      order by b
      on conflict (connection, book_id) do update set epoch = l.epoch + 1, run_id = excluded.run_id, taken_at = now()
      returning run_id as "runId", epoch, book_id as "bookId", coalesce((
          select f.run_id from sync.leases f where f.connection = l.connection and f.book_id = l.book_id), 0) as before`,
  )
  yield* lookAgain(connection, Option.some(books), runId)
  const taken = new Map(rows.map((row) => [row.bookId, row]))
  return books.map(
    (book): BookLease => ({
      runId,
      epoch: taken.get(book.bookId)?.epoch ?? 0n,
      taken: { connection, book: Option.some(book) },
      book,
      again: taken.get(book.bookId)?.before === runId,
    }),
  )
})

/**
 * Runs an effect in one transaction, and only while the lease is held. The run is compared, too: a failover may lose the commit that took a
 * lease, and the next one then gets the same epoch.
 */
export const fenced =
  (database: Database, { epoch, runId, taken }: Lease): Commit =>
  (effect) =>
    database.transaction(effect, {
      guard: {
        operation: "Sync.fence",
        statement: (sql) => sql`
          select 1 from sync.leases
          where connection = ${taken.connection} and book_id = ${rowOf(taken)} and epoch = ${epoch}
            and run_id = ${runId}
          for share`,
        passes: (found) =>
          found.length === 1
            ? Effect.void
            : Effect.fail(new LeaseLost({ connection: taken.connection, runId })),
      },
    })

/**
 * The same while several leases are held: of one run, each of another book. Takes them in the books' order, so that nothing
 * waits in a circle.
 */
export const fencedTogether = (database: Database, leases: ReadonlyArray<Lease>): Commit => {
  const [first, ...others] = leases
  if (first === undefined) return (effect) => database.transaction(effect)
  if (others.length === 0) return fenced(database, first)
  const { runId, taken } = first
  return (effect) =>
    database.transaction(effect, {
      guard: {
        operation: "Sync.fenceTogether",
        statement: (sql) => sql`
          select 1
          from unnest(${`{${leases.map((lease) => rowOf(lease.taken)).join(",")}}`}::integer[],
            ${`{${leases.map(({ epoch }) => epoch).join(",")}}`}::bigint[]) as h (book_id, epoch)
          join sync.leases l on l.connection = ${taken.connection} and l.book_id = h.book_id and l.epoch = h.epoch
            and l.run_id = ${runId}
          order by l.book_id for share of l`,
        passes: (found) =>
          found.length === leases.length
            ? Effect.void
            : Effect.fail(new LeaseLost({ connection: taken.connection, runId })),
      },
    })
}
