/**
 * One run of a connection: its number, its counters, its beginning and its end. What it writes passes the fence of its lease
 * (`Run/Lease.ts`), which is held on all of the connection, or on one of its books: so several processes can take part in a run.
 */
import { and, eq, sql } from "drizzle-orm"
import { Context, Effect, Option } from "effect"
import type { Book } from "./Book.ts"
import { isoOf } from "./Common/Time.ts"
import { bool, float8, int4 } from "./Database/Columns.ts"
import { type RunCommand, runs } from "./Database/Tables/Sync.ts"
import { textArray } from "./Database/TextArray.ts"
import { Database } from "./Database.ts"
import { warnOfClock } from "./Run/Clocks.ts"
import { type Counters, noCounts, type ReadProgress } from "./Run/Counters.ts"
import { earlierTries } from "./Run/EarlierTry.ts"
import { type Commit, fenced, type Lease, type Taken, takeLease, takeLeases } from "./Run/Lease.ts"

export class Run extends Context.Tag("tieout/Sync/Run")<
  Run,
  {
    readonly connection: string
    readonly runId: number
    /** ISO 8601, our clock. */
    readonly startedAt: string
    readonly counters: Counters
    readonly progress: ReadProgress
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

/** Commands that have a connection to themselves: where one begins, no run of another is alive. */
export const alone: ReadonlyArray<RunCommand> = ["sync", "replay", "reclassify"]

/** Notes that a run has started; an earlier one that never ended, and would still hold what this one holds, was abandoned. */
export const openRun = Effect.fn("Sync.openRun")(function* (connection: string, command: RunCommand) {
  const database = yield* Database
  const gone = alone.includes(command) ? alone : [command]
  const opened = yield* database.row(
    "Sync.openRun",
    { runId: int4, besideBackfill: bool, now: float8 },
    (sql) => sql`
      with abandoned as (
        update sync.runs set state = 'abandoned', ended_at = now()
        where connection = ${connection} and command = any (${textArray(sql, gone)}) and state = 'running')
      insert into sync.runs (connection, command) values (${connection}, ${command})
      returning run_id as "runId", exists (
        select from sync.runs b
        where b.connection = ${connection} and b.command = 'backfill' and b.state = 'running') as "besideBackfill",
        (extract(epoch from clock_timestamp()) * 1000)::float8 as now`,
  )
  // Events make many runs an hour.
  if (command !== "events") yield* warnOfClock(opened.now)
  return opened
})

/** The session lock that a backfill of the connection holds while it runs. */
export const backfillLock = (connection: string): string => `backfill:${connection}`

/** A backfill that was killed runs for ever by its row. Once it counts as ended, what it booked is proved (`Reconcile.takeBooks`). */
const endKilledBackfill = Effect.fn("Sync.endKilledBackfill")(function* (connection: string) {
  const database = yield* Database
  const end = database.execute(
    "Sync.endKilledBackfill",
    (sql) => sql`
      update sync.runs set state = 'abandoned', ended_at = now()
      where connection = ${connection} and command = 'backfill' and state = 'running'`,
  )
  yield* Effect.catchTag(
    database.withSessionLock(backfillLock(connection), end),
    "LockBusy",
    () => Effect.void,
  )
})

/** A run's counters and progress, at its start. */
export const freshRun = (connection: string, runId: number, startedAt: number) => ({
  connection,
  runId,
  startedAt: isoOf(startedAt),
  counters: noCounts(),
  progress: { statements: { done: 0, all: 0 }, clients: { done: 0, all: 0 } },
})

/** A run as the lease's holder sees it: its writes are fenced, and it need not wait for anybody's turn. */
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
    const { connection } = taken
    const { besideBackfill, lease } = yield* database.transaction(
      Effect.flatMap(openRun(connection, command), ({ besideBackfill, runId }) =>
        Effect.map(takeLease(taken, runId), (lease) => ({ besideBackfill, lease })),
      ),
    )
    if (besideBackfill) yield* endKilledBackfill(connection)
    return yield* runUnder(lease, started)
  })

/** Starts a run and takes the lease of the connection. The caller holds the connection's session lock. */
export const beginRun = Effect.fn("Sync.beginRun")(function* (connection: string, command: RunCommand) {
  return yield* begin({ connection, book: Option.none() }, command)
})

/**
 * Starts a run whose other books other processes take, and takes the lease of one book. The caller holds that book's session
 * lock.
 */
export const leadRun = Effect.fn("Sync.leadRun")(function* (book: Book, command: RunCommand) {
  return yield* begin({ connection: book.connection, book: Option.some(book) }, command)
})

/**
 * Marks the last run of events on each of these books as abandoned if it never ended, since nothing else does. Call it before the
 * leases are taken.
 */
const abandonEvents = Effect.fn("Sync.abandonEvents")(function* (
  connection: string,
  books: ReadonlyArray<Book>,
) {
  const database = yield* Database
  yield* database.execute(
    "Sync.abandonEvents",
    (sql) => sql`
      update sync.runs r set state = 'abandoned', ended_at = now()
      from sync.leases l
      where l.connection = ${connection} and r.run_id = l.run_id and r.command = 'events' and r.state = 'running'
        and l.book_id = any (${`{${books.map(({ bookId }) => bookId).join(",")}}`}::integer[])`,
  )
})

/** Starts a run for the events of one book, beside runs on other books. The caller holds the book's session lock. */
export const beginBookEvents = Effect.fn("Sync.beginBookEvents")(function* (book: Book) {
  const database = yield* Database
  const { connection } = book
  const started = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
  const lease = yield* database.transaction(
    Effect.gen(function* () {
      yield* abandonEvents(connection, [book])
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

/** A run that another process leads, as the holder of one of its books sees it. */
export type JoinedRun = Run["Type"] & {
  readonly lease: Lease
  /** By account, the new statement entries that a process which is gone had read for this run. */
  readonly earlierEntries: ReadonlyMap<string, number>
}

/**
 * Takes books of a connection for a run that has begun already, in their order, each with a lease and counters of its own, which go on
 * from what a process that is gone has written for the run. The caller holds the books' session locks.
 */
export const joinRun = Effect.fn("Sync.joinRun")(function* (
  runId: number,
  connection: string,
  books: ReadonlyArray<Book>,
) {
  const database = yield* Database
  const started = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
  const leases = yield* database.transaction(
    Effect.zipRight(abandonEvents(connection, books), takeLeases(connection, books, runId)),
  )
  const earlier = yield* earlierTries(
    runId,
    leases.filter(({ again }) => again).map(({ book }) => book),
  )
  return yield* Effect.forEach(leases, (lease) =>
    Effect.map(runUnder(lease, started), (run): JoinedRun => {
      const { counters, newEntries } = earlier(lease.book)
      return { ...run, counters: { ...run.counters, ...counters }, lease, earlierEntries: newEntries }
    }),
  )
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
