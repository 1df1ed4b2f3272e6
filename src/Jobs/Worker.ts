/** Takes jobs from the queue for as long as it runs: reads, numbers and proves the books that runs of any process hand out. */
import { Effect, Exit, Option, Runtime, Schema, type Scope } from "effect"
import { errorOf } from "../Common/ErrorKind.ts"
import { Database } from "../Database.ts"
import type { Settings } from "../Settings.ts"
import type { BookSync } from "../Sync/BookSync.ts"
import { bookJobs } from "./BookJob.ts"
import { bookQueue, boss, calling, deadQueue } from "./Boss.ts"

/** Jobs that are taken at once: the next ones are looked for when all of them are done. */
const batch = 2

const Failed = Schema.Struct({ why: Schema.String })

/** Why the last try failed; a lost worker leaves no reason. */
const whyOf = (output: unknown): string =>
  Option.match(Schema.decodeUnknownOption(Failed)(output), {
    onNone: () => "the worker that tried it last was lost",
    onSome: ({ why }) => why,
  })

/** Works until its scope closes. Work under way then has ten seconds to end; after that another worker takes it. */
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
    /** The result of a try, for the queue. */
    const outcomeOf = async (id: string, exit: Exit.Exit<void, unknown>, what: string) => {
      if (Exit.isSuccess(exit)) return { id, status: "completed" as const }
      const error = errorOf(exit.cause)
      const why = error instanceof Error ? error.message : "something unforeseen"
      await run(Effect.logWarning(`A book could not be ${what}, and is tried again: ${why}`))
      return { id, status: "failed" as const, output: { why } }
    }

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
              return outcomeOf(id, await run(read(data), { signal }), "read")
            }),
          ),
      ),
    )
    yield* calling("Jobs.workDead", () =>
      queue.work(
        deadQueue,
        { pollingIntervalSeconds: 1, perJobResults: true, includeMetadata: true },
        (jobs) =>
          Promise.all(
            jobs.map(async ({ data, id, signal, sourceOutput, sourceRetryCount }) => {
              const given = { tries: (sourceRetryCount ?? 0) + 1, why: whyOf(sourceOutput) }
              return outcomeOf(id, await run(giveUp(data, given), { signal }), "given up")
            }),
          ),
      ),
    )
  })
