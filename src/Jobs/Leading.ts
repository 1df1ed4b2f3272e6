/** Hands the books of a run to workers, and waits for their results. */
import { Clock, Duration, Effect, type Scope } from "effect"
import type { PgBoss } from "pg-boss"
import { counted } from "../Common/Text.ts"
import { bool, text } from "../Database/Columns.ts"
import type { DatabaseError } from "../Database/DatabaseError.ts"
import { textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import { LeaseLost } from "../Run/Lease.ts"
import type { SendBooks } from "../Sync/Events/EventJobs.ts"
import type { ReadElsewhere } from "../Sync/Runs/BookJobs.ts"
import { forget, gather, handOut, hasEnded, unfinishedBooks } from "./BookWork.ts"
import { bookQueue, boss, calling, deadQueue, heartbeatSeconds, type NoWorkers, priorities } from "./Boss.ts"

const lookAgain = "200 millis"
/** After so many polls without a result, the run must still be under way, and the unfinished books of a backfill are handed out again. */
const looksUntilAgain = 10
/** So long without a result, a person should know where no worker is at a book. */
const untilWarned = Duration.minutes(1)

/** Longer than a job waits for its next try. */
const farAhead = "2 minutes"

export interface Queue {
  /** Queues the books for workers of any process. */
  readonly send: (
    connection: string,
    books: ReadonlyArray<number>,
    priority: number,
  ) => Effect.Effect<void, DatabaseError>
  /** Whether some worker is at a book of the connection. */
  readonly isActive: (connection: string) => Effect.Effect<boolean, DatabaseError>
  /** The books among these that have no job. */
  readonly idle: (
    connection: string,
    books: ReadonlyArray<number>,
  ) => Effect.Effect<ReadonlyArray<number>, DatabaseError>
}

/** Says so, once, where no book comes back and no worker is at any. */
export const readBy =
  (database: Database, { idle, isActive, send }: Queue, patience = untilWarned): ReadElsewhere =>
  ({ connection, runId }, asked, tasks, take) =>
    Effect.gen(function* () {
      const isBackfill = asked.window !== null
      const priority = isBackfill ? priorities.backfill : priorities.night
      yield* handOut(runId, asked, tasks)
      yield* send(
        connection,
        tasks.map(({ book }) => book.bookId),
        priority,
      )
      let waitingFor = tasks.length
      let looks = 0
      let quietSince = yield* Clock.currentTimeNanos
      let isWarned = false
      while (waitingFor > 0) {
        const come = yield* gather(runId)
        come.forEach(take)
        waitingFor -= come.length
        const now = yield* Clock.currentTimeNanos
        if (come.length > 0) quietSince = now
        if (waitingFor === 0 || come.length > 0) continue
        if (!isWarned && now - quietSince > BigInt(Duration.toMillis(patience)) * 1_000_000n) {
          quietSince = now
          isWarned = !(yield* isActive(connection))
          if (isWarned)
            yield* Effect.logWarning(
              `${counted(waitingFor, "book")} ${waitingFor === 1 ? "waits" : "wait"} for workers, and none is at work: does tieout worker run, with this database, and what does its log say?`,
            )
        }
        yield* Effect.sleep(lookAgain)
        looks += 1
        if (looks % looksUntilAgain !== 0) continue
        // A later run has taken the connection, and this one for abandoned: no worker reads a book for it any more.
        if (yield* hasEnded(runId)) return yield* new LeaseLost({ connection, runId })
        // A worker leaves a book that another process holds. A book that failed still has its job, whose tries are counted.
        if (isBackfill)
          yield* send(connection, yield* idle(connection, yield* unfinishedBooks(runId)), priority)
      }
    }).pipe(
      // Jobs may remain that nobody waits for; a worker that takes one finds nothing to do.
      Effect.ensuring(Effect.ignore(forget(runId))),
      Effect.provideService(Database, database),
    )

/** At most one job waits for each book. Another request raises the waiting job's priority; that job does all that is due. */
const sending = (database: Database, queue: PgBoss) =>
  Effect.fn("Jobs.send")(function* (connection: string, books: ReadonlyArray<number>, priority: number) {
    if (books.length === 0) return
    const keys = books.map((bookId) => `${connection}/${bookId}`)
    yield* calling("Jobs.send", () =>
      queue.insert(
        bookQueue,
        books.map((bookId, index) => ({
          data: { connection, bookId },
          priority,
          singletonKey: keys[index] ?? "",
        })),
      ),
    )
    // Times that the database's clock made while it was ahead: nobody would take these books until it has caught up.
    yield* database.execute(
      "Jobs.byClock",
      (sql) => sql`
        update jobs.job set start_after = least(start_after, now()),
          heartbeat_on = case when heartbeat_on > now() then now() else heartbeat_on end
        where name = ${bookQueue} and state in ('created', 'retry', 'active')
          and (start_after > now() + ${farAhead}::interval or heartbeat_on > now() + ${farAhead}::interval)
          and singleton_key = any (${textArray(sql, keys)})`,
    )
    yield* database.execute(
      "Jobs.hasten",
      (sql) => sql`
        update jobs.job set priority = ${priority}
        where name = ${bookQueue} and state in ('created', 'retry') and priority < ${priority}
          and singleton_key = any (${textArray(sql, keys)})`,
    )
  })

/** One that is lost, or cannot write that it lives, as on a full disk, is at nothing. */
export const activeIn = (database: Database) =>
  Effect.fn("Jobs.isActive")(function* (connection: string) {
    const { isActive } = yield* database.row(
      "Jobs.isActive",
      { isActive: bool },
      (sql) => sql`
        select exists (
          select from jobs.job
          where name = ${bookQueue} and state = 'active' and data ->> 'connection' = ${connection}
            and coalesce(heartbeat_on, started_on) > now() - make_interval(secs => ${heartbeatSeconds}::float8)) as "isActive"`,
    )
    return isActive
  })

const without = (database: Database) =>
  Effect.fn("Jobs.idle")(function* (connection: string, books: ReadonlyArray<number>) {
    const rows = yield* database.rows(
      "Jobs.idle",
      { book: text },
      (sql) => sql`
        select coalesce(data ->> 'bookId', '') as book from jobs.job
        where name in (${bookQueue}, ${deadQueue}) and state in ('created', 'retry', 'active')
          and data ->> 'connection' = ${connection}`,
    )
    const busy = new Set(rows.map(({ book }) => book))
    return books.filter((bookId) => !busy.has(String(bookId)))
  })

/** Workers that wait for jobs of pg-boss: how they get the books of a run, and the events of books. */
export const workersElsewhere: Effect.Effect<
  { readonly books: ReadElsewhere; readonly events: SendBooks },
  DatabaseError | NoWorkers,
  Database | Scope.Scope
> = Effect.gen(function* () {
  const database = yield* Database
  const queue = yield* boss(database.settings, true)
  const send = sending(database, queue)
  return {
    books: readBy(database, { send, idle: without(database), isActive: activeIn(database) }),
    events: (connection, books) => send(connection, books, priorities.events),
  }
})

/** Only the books of runs. */
export const readElsewhere = Effect.map(workersElsewhere, ({ books }) => books)
