/** Hands the books of a run to workers, and waits for what comes of them. */
import { Effect, type Scope } from "effect"
import type { PgBoss } from "pg-boss"
import type { DatabaseError } from "../Database/DatabaseError.ts"
import { textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import type { SendBooks } from "../Sync/Events/EventJobs.ts"
import type { ReadElsewhere } from "../Sync/Runs/BookJobs.ts"
import { forget, gather, handOut } from "./BookWork.ts"
import { bookQueue, boss, calling, type NoWorkers, priorities } from "./Boss.ts"

const lookAgain = "200 millis"

/** `send` has workers take the books, of whatever process. */
export const readBy =
  (
    database: Database,
    send: (connection: string, books: ReadonlyArray<number>) => Effect.Effect<void, DatabaseError>,
  ): ReadElsewhere =>
  ({ connection, runId }, asked, tasks, take) =>
    Effect.gen(function* () {
      yield* handOut(runId, asked, tasks)
      yield* send(
        connection,
        tasks.map(({ book }) => book.bookId),
      )
      let waitingFor = tasks.length
      while (waitingFor > 0) {
        const come = yield* gather(runId)
        come.forEach(take)
        waitingFor -= come.length
        if (waitingFor > 0 && come.length === 0) yield* Effect.sleep(lookAgain)
      }
    }).pipe(
      // Nobody waits for what is left: who takes a job of it finds nothing to do.
      Effect.ensuring(Effect.ignore(forget(runId))),
      Effect.provideService(Database, database),
    )

/** One job of a book waits at most: where one does, it gets the higher priority, and does whatever there is to do. */
const sending = (database: Database, queue: PgBoss, priority: number) =>
  Effect.fn("Jobs.send")(function* (connection: string, books: ReadonlyArray<number>) {
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
    yield* database.execute(
      "Jobs.hasten",
      (sql) => sql`
        update jobs.job set priority = ${priority}
        where name = ${bookQueue} and state in ('created', 'retry') and priority < ${priority}
          and singleton_key = any (${textArray(sql, keys)})`,
    )
  })

/** Workers that wait for jobs of pg-boss: how they get the books of a run, and the events of books. */
export const workersElsewhere: Effect.Effect<
  { readonly books: ReadElsewhere; readonly events: SendBooks },
  DatabaseError | NoWorkers,
  Database | Scope.Scope
> = Effect.gen(function* () {
  const database = yield* Database
  const queue = yield* boss(database.settings, true)
  return {
    books: readBy(database, sending(database, queue, priorities.night)),
    events: sending(database, queue, priorities.events),
  }
})

/** Those of a run alone. */
export const readElsewhere = Effect.map(workersElsewhere, ({ books }) => books)
