/**
 * One run of a connection: its lease, its number and its counters. Every transaction of a run first proves that the run still
 * holds the lease (the fence), so that a process that stalled and was overtaken writes nothing. A lease is held on all of a
 * connection, or on one of its books, so that several processes can take part in a run with a book each.
 */
import { and, eq, sql } from "drizzle-orm"
import { Context, Data, Effect, Option } from "effect"
import type { Book } from "./Book.ts"
import { int4, int8, type RowOf } from "./Database/Columns.ts"
import type { DatabaseError } from "./Database/DatabaseError.ts"
import { type RunCommand, runs } from "./Database/Tables/Sync.ts"
import { Database } from "./Database.ts"

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

/** What a run counts, for its summary. */
export const counterNames = [
  "entries",
  "held",
  "resources",
  "changedResources",
  "missingResources",
  "journalEntries",
  "reclassifications",
  "quarantined",
  "contradictions",
  "receivableVersions",
  "pages",
] as const

export type Counters = Record<(typeof counterNames)[number], number>

export const noCounts = (): Counters => ({
  entries: 0,
  held: 0,
  resources: 0,
  changedResources: 0,
  missingResources: 0,
  journalEntries: 0,
  reclassifications: 0,
  quarantined: 0,
  contradictions: 0,
  receivableVersions: 0,
  pages: 0,
})

/** How much this run has read of what it has to read, for the progress line. */
export interface Reading {
  readonly statements: { done: number; all: number }
  readonly clients: { done: number; all: number }
}

export class Run extends Context.Tag("tieout/Sync/Run")<
  Run,
  {
    readonly connection: string
    readonly runId: number
    /** ISO 8601, our clock. */
    readonly startedAt: string
    readonly counters: Counters
    readonly reading: Reading
    readonly commit: Commit
    /**
     * Runs an effect while nobody else writes to the connection's books: at once where the run owns the connection, in turn
     * where it shares it. Plan from the books within the effect, after the wait.
     */
    readonly turn: Commit
    /** As `commit`, to record how the run ended; does not wait for a turn. */
    readonly conclude: Commit
  }
>() {}

/** Our clock, ISO 8601. */
export const nowIso = (epochMilliseconds: number): string => new Date(epochMilliseconds).toISOString()

/** What a run has taken: one book, or all of its connection. */
export interface Taken {
  readonly connection: string
  readonly book: Option.Option<Book>
}

const leaseColumns = {
  runId: int4,
  epoch: int8,
}

interface Lease extends RowOf<typeof leaseColumns> {
  readonly taken: Taken
}

/** The row of the connection as a whole. */
const wholeConnection = 0

const rowOf = ({ book }: Taken): number =>
  Option.match(book, { onNone: () => wholeConnection, onSome: ({ bookId }) => bookId })

/**
 * Takes the lease of a connection, or of one of its books, for a run: whoever held any of it can write nothing more. The
 * connection's row comes first, so that two who take at once wait for each other in one order.
 */
export const takeLease = Effect.fn("Sync.takeLease")(function* (taken: Taken, runId: number) {
  const { connection } = taken
  const database = yield* Database
  const lease = (row: number) =>
    database.row(
      "Sync.takeLease",
      leaseColumns,
      (sql) => sql`
        insert into sync.leases as l (connection, book_id, epoch, run_id) values (${connection}, ${row}, 1, ${runId})
        on conflict (connection, book_id) do update set epoch = l.epoch + 1, run_id = excluded.run_id, taken_at = now()
        returning run_id as "runId", epoch`,
    )
  const books = database.execute(
    "Sync.takeBooks",
    (sql) => sql`
      update sync.leases set epoch = epoch + 1, run_id = ${runId}, taken_at = now()
      where connection = ${connection} and book_id <> ${wholeConnection}`,
  )
  return yield* database.transaction(
    Effect.gen(function* () {
      const whole = yield* lease(wholeConnection)
      if (Option.isSome(taken.book)) return { ...(yield* lease(rowOf(taken))), taken } satisfies Lease
      yield* books
      return { ...whole, taken } satisfies Lease
    }),
  )
})

/** Runs an effect in one transaction, and only while the lease is held. */
export const fenced =
  (database: Database, { epoch, runId, taken }: Lease): Commit =>
  (effect) =>
    database.transaction(effect, {
      guard: {
        operation: "Sync.fence",
        statement: (sql) => sql`
          select 1 from sync.leases
          where connection = ${taken.connection} and book_id = ${rowOf(taken)} and epoch = ${epoch} for share`,
        passes: (found) =>
          found.length === 1
            ? Effect.void
            : Effect.fail(new LeaseLost({ connection: taken.connection, runId })),
      },
    })

/** Notes that a run has started; an earlier one of the same command that never ended was abandoned. */
export const openRun = Effect.fn("Sync.openRun")(function* (connection: string, command: RunCommand) {
  const database = yield* Database
  const { run_id: runId } = yield* database.row(
    "Sync.openRun",
    { run_id: int4 },
    (sql) => sql`
      with abandoned as (
        update sync.runs set state = 'abandoned', ended_at = now()
        where connection = ${connection} and command = ${command} and state = 'running')
      insert into sync.runs (connection, command) values (${connection}, ${command}) returning run_id`,
  )
  return runId
})

/** What a run counts and shows, at its start. */
export const freshRun = (connection: string, runId: number, startedAt: number) => ({
  connection,
  runId,
  startedAt: nowIso(startedAt),
  counters: noCounts(),
  reading: { statements: { done: 0, all: 0 }, clients: { done: 0, all: 0 } },
})

/** A run as whoever holds the lease has it: its writes are fenced, and nobody else's turn is waited for. */
const runUnder = (lease: Lease, started: number) =>
  Effect.map(Database, (database) => {
    const commit = fenced(database, lease)
    return Run.of({
      ...freshRun(lease.taken.connection, lease.runId, started),
      commit,
      turn: (effect) => effect,
      conclude: commit,
    })
  })

const begin = (taken: Taken, command: RunCommand) =>
  Effect.gen(function* () {
    const database = yield* Database
    const started = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
    const lease = yield* database.transaction(
      Effect.flatMap(openRun(taken.connection, command), (runId) => takeLease(taken, runId)),
    )
    return yield* runUnder(lease, started)
  })

/** Starts a run and takes the lease of the connection. The caller holds the connection's session lock. */
export const beginRun = Effect.fn("Sync.beginRun")(function* (connection: string, command: RunCommand) {
  return yield* begin({ connection, book: Option.none() }, command)
})

/** Starts a run of which others take the other books, and takes the lease of one. The caller holds that book's session lock. */
export const leadRun = Effect.fn("Sync.leadRun")(function* (book: Book, command: RunCommand) {
  return yield* begin({ connection: book.connection, book: Option.some(book) }, command)
})

/** The run of events that had the book before, if it never ended, was abandoned: nobody else says so. Before the lease is taken. */
const abandonEvents = Effect.fn("Sync.abandonEvents")(function* ({ bookId, connection }: Book) {
  const database = yield* Database
  yield* database.execute(
    "Sync.abandonEvents",
    (sql) => sql`
      update sync.runs r set state = 'abandoned', ended_at = now()
      from sync.leases l
      where l.connection = ${connection} and l.book_id = ${bookId} and r.run_id = l.run_id
        and r.command = 'events' and r.state = 'running'`,
  )
})

/** Takes events of one book, beside others at the other books. The caller holds the book's session lock. */
export const beginBookEvents = Effect.fn("Sync.beginBookEvents")(function* (book: Book) {
  const database = yield* Database
  const { connection } = book
  const started = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
  const lease = yield* database.transaction(
    Effect.gen(function* () {
      yield* abandonEvents(book)
      const { run_id: runId } = yield* database.row(
        "Sync.beginBookEvents",
        { run_id: int4 },
        (sql) => sql`
          insert into sync.runs (connection, command) values (${connection}, 'events') returning run_id`,
      )
      return yield* takeLease({ connection, book: Option.some(book) }, runId)
    }),
  )
  return yield* runUnder(lease, started)
})

/** Takes one book for a run that has begun already, with counters of its own. The caller holds the book's session lock. */
export const joinRun = Effect.fn("Sync.joinRun")(function* (runId: number, book: Book) {
  const database = yield* Database
  const started = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
  const lease = yield* database.transaction(
    Effect.zipRight(
      abandonEvents(book),
      takeLease({ connection: book.connection, book: Option.some(book) }, runId),
    ),
  )
  return yield* runUnder(lease, started)
})

/** Writes how a run ended that has not ended yet. `summary` is what `--json` prints of it. Part of `Run.conclude`. */
export const endRun = Effect.fn("Sync.endRun")(function* (
  runId: number,
  state: "done" | "failed" | "stopped",
  exitCode: number,
  summary: unknown,
  /** A sync that read its whole connection and ended well. */
  whole = false,
) {
  const database = yield* Database
  yield* database.orm("Sync.endRun", (orm) =>
    orm
      .update(runs)
      .set({ state, endedAt: sql`now()`, exitCode, summary, whole })
      .where(and(eq(runs.runId, runId), eq(runs.state, "running"))),
  )
})
