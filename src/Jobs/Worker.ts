/** Takes jobs from the queue for as long as it runs: reads, numbers and proves the books that runs of any process hand out. */
import {
  Cause,
  Clock,
  Deferred,
  Duration,
  Effect,
  Exit,
  Fiber,
  Option,
  Runtime,
  Schema,
  type Scope,
} from "effect"
import type { Job } from "pg-boss"
import { firstOf } from "../Common/Effects/FirstOf.ts"
import { errorOf, messageOf } from "../Common/ErrorKind.ts"
import { int4 } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { PartnerError } from "../Partner/PartnerError.ts"
import { type Settings, SettingsError } from "../Settings.ts"
import type { BookSync } from "../Sync/BookSync.ts"
import { bookJobs } from "./BookJob.ts"
import { bookQueue, boss, calling, deadQueue, heartbeatSeconds } from "./Boss.ts"

/** The most jobs that are taken at once; their books are numbered and proved together. */
const most = 100
/** A portion is this part of the waiting jobs, so that other workers get the rest; but as many as the worker reads at once. */
const share = 4
/** Portions at a time: while the books of one are proved, those of another are read. */
const lanes = 2
const lookAgain = "500 millis"
/** The wait after a failure, as while the database is away. */
const afterFailure = "5 seconds"
/** How long other workers alone take jobs after one that failed by this worker's own settings or credentials. */
const whenUnfit = Duration.minutes(1)
/** The time that work under way has to end when the worker stops. */
const grace = "10 seconds"

const Failed = Schema.Struct({ why: Schema.String })
const Touched = Schema.Struct({ affected: Schema.Number })

/** Why the last try failed; a lost worker leaves no reason. */
const whyOf = (output: unknown): string =>
  Option.match(Schema.decodeUnknownOption(Failed)(output), {
    onNone: () => "the worker that tried it last was lost",
    onSome: ({ why }) => why,
  })

const reasonOf = (exit: Exit.Exit<void, unknown>): Option.Option<string> =>
  Exit.match(exit, {
    onSuccess: () => Option.none(),
    onFailure: (cause) => Option.some(messageOf(cause)),
  })

/** Whether a job failed by what this worker has: another one may have other settings, or the new secret. */
const isUnfit = (exit: Exit.Exit<void, unknown>): boolean => {
  const error = Exit.isFailure(exit) ? errorOf(exit.cause) : undefined
  return error instanceof SettingsError || (error instanceof PartnerError && error.reason === "Unauthorized")
}

/** How many jobs to take now. */
const portion = Effect.fn("Jobs.portion")(function* (concurrency: number) {
  const database = yield* Database
  const { waiting } = yield* database.row(
    "Jobs.waiting",
    { waiting: int4 },
    (sql) => sql`
      select count(*)::integer as waiting from (
        select from jobs.job where name = ${bookQueue} and state < 'active' and not blocked and start_after < now()
        limit ${most * share}) j`,
  )
  return Math.max(Math.ceil(waiting / share), Math.min(waiting, concurrency))
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
    const { giveUp, read } = yield* bookJobs(concurrency)
    const run = Runtime.runPromiseExit(yield* Effect.runtime<Database | Settings | BookSync>())
    const queue = yield* boss(database.settings, true)
    const ends = yield* Deferred.make<void>()
    /** Until then others take the jobs, by a clock that nobody sets. Nanoseconds. */
    let unfitUntil = 0n

    const succeeded = (jobs: ReadonlyArray<Job>) =>
      jobs.length === 0
        ? Effect.void
        : Effect.asVoid(calling("Jobs.complete", () => queue.complete(bookQueue, [...jobs])))
    const failed = (jobs: ReadonlyArray<Job>, why: string) =>
      Effect.asVoid(calling("Jobs.fail", () => queue.fail(bookQueue, [...jobs], { why })))

    /** Tells the queue how each went. */
    const settle = Effect.fn("Jobs.settle")(function* (
      jobs: ReadonlyArray<Job>,
      outcomes: ReadonlyArray<Exit.Exit<void, unknown>>,
    ) {
      const whys = jobs.map((_, at) => Option.flatMap(Option.fromNullable(outcomes[at]), reasonOf))
      yield* succeeded(jobs.filter((_, at) => Option.isNone(whys[at] ?? Option.none())))
      for (const [at, job] of jobs.entries()) {
        const why = Option.getOrNull(whys[at] ?? Option.none())
        if (why === null) continue
        yield* Effect.logWarning(`A book could not be read, and is tried again: ${why}`)
        yield* failed([job], why)
      }
      if (!outcomes.some(isUnfit)) return
      // Otherwise it would fail the tries of all books before a worker that can read them gets to one.
      unfitUntil = (yield* Clock.currentTimeNanos) + BigInt(Duration.toMillis(whenUnfit)) * 1_000_000n
      yield* Effect.logWarning(
        `That is this worker's own settings or credentials: it leaves work to others for ${Duration.format(whenUnfit)}.`,
      )
    })

    /** Says that the jobs are under way; ends where one of them is no longer this worker's. What cannot be told says nothing of that. */
    const beating = (jobs: ReadonlyArray<Job>) =>
      calling("Jobs.touch", () => queue.touch(bookQueue, [...jobs])).pipe(
        Effect.map((touched) =>
          Option.exists(
            Schema.decodeUnknownOption(Touched)(touched),
            ({ affected }) => affected < jobs.length,
          ),
        ),
        Effect.orElseSucceed(() => false),
        Effect.delay(Duration.seconds(heartbeatSeconds / 2)),
        Effect.repeat({ until: (isLost) => isLost }),
      )

    const done = Effect.fn("Jobs.work")(function* (jobs: ReadonlyArray<Job>) {
      if (jobs.length === 0) return
      const reading = Effect.exit(read(jobs.map(({ data }) => data)))
      const all = yield* firstOf(reading, Effect.as(beating(jobs), null))
      if (all === null)
        return yield* Effect.logWarning("Books were taken from this worker: it was not heard of in time.")
      yield* settle(
        jobs,
        jobs.map((_, at) => Exit.flatMap(all, (each): Exit.Exit<void, unknown> => each[at] ?? Exit.void)),
      )
    })

    /** Takes jobs and does them; how many they were. */
    const next = Effect.gen(function* () {
      if ((yield* Clock.currentTimeNanos) < unfitUntil) return 0
      const batchSize = yield* portion(concurrency)
      if (batchSize === 0) return 0
      return yield* Effect.acquireUseRelease(
        calling("Jobs.fetch", () => queue.fetch<object>(bookQueue, { batchSize })),
        (jobs) => Effect.as(done(jobs), jobs.length),
        (jobs, exit) =>
          // Another takes them at once.
          jobs.length > 0 && Exit.isInterrupted(exit)
            ? Effect.ignore(failed(jobs, "the worker was stopped"))
            : Effect.void,
      )
    })

    const pause = (duration: Duration.DurationInput) =>
      Effect.raceFirst(Effect.sleep(duration), Deferred.await(ends))

    /**
     * One after the other, until it is to end. What fails is tried again after a while, a defect as well: else the process would live on
     * and do nothing.
     */
    const lane = next.pipe(
      Effect.tap((count) => (count > 0 ? Effect.void : pause(lookAgain))),
      Effect.asVoid,
      Effect.catchAllCause((cause) =>
        Cause.isInterrupted(cause)
          ? Effect.failCause(cause)
          : Effect.zipRight(
              Effect.logWarning(
                `No work could be taken: ${Option.getOrElse(reasonOf(Exit.failCause(cause)), () => "")}`,
              ),
              pause(afterFailure),
            ),
      ),
      Effect.repeat({ until: () => Deferred.isDone(ends) }),
    )
    yield* Effect.acquireRelease(
      Effect.all(
        Array.from({ length: lanes }, () => lane),
        { concurrency: "unbounded", discard: true },
        // What is acquired begins as something that cannot be interrupted.
      ).pipe(Effect.interruptible, Effect.forkDaemon),
      (fiber) =>
        Deferred.succeed(ends, undefined).pipe(
          Effect.zipRight(Effect.timeoutOption(Fiber.await(fiber), grace)),
          Effect.zipRight(Effect.timeoutOption(Effect.disconnect(Fiber.interrupt(fiber)), grace)),
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
              const exit = await run(giveUp(data, given), { signal })
              const why = Option.getOrNull(reasonOf(exit))
              if (why === null) return { id, status: "completed" as const }
              await run(Effect.logWarning(`A book could not be given up, and is tried again: ${why}`))
              return { id, status: "failed" as const, output: { why } }
            }),
          ),
      ),
    )
  })
