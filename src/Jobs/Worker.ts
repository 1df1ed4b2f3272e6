/** Takes jobs from the queue as long as it lives: reads, numbers and proves the books that runs of any process hand out. */
import { Effect, Exit, Runtime, type Scope } from "effect"
import { errorOf } from "../Common/ErrorKind.ts"
import { Database } from "../Database.ts"
import type { Settings } from "../Settings.ts"
import type { BookSync } from "../Sync/BookSync.ts"
import { bookJobs } from "./BookJob.ts"
import { bookQueue, boss, calling, deadQueue } from "./Boss.ts"

/** Jobs that are taken at once: the next ones are looked for when all of them are done. */
const batch = 2

/** Works until its scope closes; what is under way then has ten seconds to end, and is another's afterwards. */
export const work = (
  concurrency: number,
): Effect.Effect<
  void,
  Effect.Effect.Error<ReturnType<typeof boss>>,
  Database | Settings | BookSync | Scope.Scope
> =>
  Effect.gen(function* () {
    const database = yield* Database
    const { giveUp, read } = yield* bookJobs
    const runtime = yield* Effect.runtime<Database | Settings | BookSync>()
    const queue = yield* boss(database.settings, true)

    const run = Runtime.runPromiseExit(runtime)
    yield* calling("Jobs.work", () =>
      queue.work(
        bookQueue,
        {
          batchSize: batch,
          localConcurrency: Math.max(1, Math.ceil(concurrency / batch)),
          burstWhenBatchFull: true,
          pollingIntervalSeconds: 0.5,
          perJobResults: true,
        },
        (jobs) =>
          Promise.all(
            jobs.map(async ({ data, id, signal }) => {
              const exit = await run(read(data), { signal })
              if (Exit.isSuccess(exit)) return { id, status: "completed" as const }
              const error = errorOf(exit.cause)
              const why = error instanceof Error ? error.message : "something unforeseen"
              await run(Effect.logWarning(`A book could not be read, and is tried again: ${why}`))
              return { id, status: "failed" as const, output: { why } }
            }),
          ),
      ),
    )
    yield* calling("Jobs.workDead", () =>
      queue.work(deadQueue, { pollingIntervalSeconds: 1 }, async (jobs) => {
        for (const { data } of jobs)
          await run(giveUp(data, "every worker that tried it failed; their logs say why"))
      }),
    )
  })
