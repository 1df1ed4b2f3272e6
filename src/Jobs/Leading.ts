/** Hands the books of a run to workers, and waits for what comes of them. */
import { Effect, type Scope } from "effect"
import type { DatabaseError } from "../Database/DatabaseError.ts"
import { Database } from "../Database.ts"
import type { ReadElsewhere } from "../Sync/Runs/BookJobs.ts"
import { forget, gather, handOut } from "./BookWork.ts"
import { bookQueue, boss, calling, type NoWorkers } from "./Boss.ts"

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

/** Workers that wait for jobs of pg-boss. */
export const readElsewhere: Effect.Effect<ReadElsewhere, DatabaseError | NoWorkers, Database | Scope.Scope> =
  Effect.gen(function* () {
    const database = yield* Database
    const queue = yield* boss(database.settings, true)
    return readBy(database, (connection, books) =>
      calling("Jobs.send", () =>
        queue.insert(
          bookQueue,
          books.map((bookId) => ({
            data: { connection, bookId },
            singletonKey: `${connection}/${bookId}`,
          })),
        ),
      ),
    )
  })
