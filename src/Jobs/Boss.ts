/**
 * pg-boss, which hands jobs to processes: its tables stand in the schema `jobs` of the same database. It needs a newer Node than
 * everything else, and is loaded only where there are workers.
 */
import { createRequire } from "node:module"
import { Data, Effect } from "effect"
import type { ConstructorOptions, PgBoss } from "pg-boss"
import type { ConnectionSettings } from "../Database/ConnectionSettings.ts"
import { type DatabaseError, databaseError, toDatabaseError } from "../Database/DatabaseError.ts"
import { bossDatabase } from "./BossDatabase.ts"

export const schema = "jobs"

/** The work of a book; one job waits and one is under way at most, for each. */
export const bookQueue = "books"
/** The order of waiting jobs: an event is news, a night may last for hours, and a backfill reads what is known already. */
export const priorities = { events: 20, night: 10, backfill: 5 } as const

/** The queue of jobs that failed on every allowed try. */
export const deadQueue = "books-dead"

/** Workers cannot run here, and why. */
export class NoWorkers extends Data.TaggedError("NoWorkers")<{ readonly message: string }> {}

const needed = { major: 22, minor: 12 }

/** Whether this version of Node, as `process.versions.node` has it, runs pg-boss. */
export const runsWorkers = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major > needed.major || (major === needed.major && minor >= needed.minor)
}

/** Fails where pg-boss cannot run, before anything is opened. */
export const onNewerNode: Effect.Effect<void, NoWorkers> = Effect.suspend(() =>
  runsWorkers(process.versions.node)
    ? Effect.void
    : new NoWorkers({
        message: `Workers need Node ${needed.major}.${needed.minor} or newer; this is ${process.versions.node}. All but workers runs here.`,
      }),
)

const loaded = Effect.zipRight(
  onNewerNode,
  Effect.tryPromise({
    // Instead of `import`, which warns in a bundle that runs from cached code. This function loads modules of either kind.
    try: async () => {
      const found: typeof import("pg-boss") = createRequire(import.meta.url)("pg-boss")
      return found
    },
    catch: (error) => {
      // Node names the modules that asked for it on lines of their own.
      const [why] = String(error).split("\n")
      return new NoWorkers({
        message: `Workers need the package pg-boss, which cannot be loaded: ${why}. Install Tieout again, with this version of Node and without --omit=optional.`,
      })
    },
  }),
)

/**
 * pg-boss waits until a point of time. By a clock that somebody sets back by two hours it would look at no lost worker's jobs for two
 * hours, and beyond 24 days would look again each millisecond.
 */
const steadyClock = {
  now: () => performance.timeOrigin + performance.now(),
  setTimeout: (work: () => void, milliseconds: number) => setTimeout(work, milliseconds),
  clearTimeout: (timer: NodeJS.Timeout) => clearTimeout(timer),
  setInterval: (work: () => void, milliseconds: number) => setInterval(work, milliseconds),
  clearInterval: (timer: NodeJS.Timeout) => clearInterval(timer),
}

const options = {
  schema,
  clock: steadyClock,
  // `tieout migrate` makes the tables, as their owner, and `serve` has a schedule of its own.
  migrate: false,
  createSchema: false,
  schedule: false,
  reindex: false,
  monitorIntervalSeconds: 10,
  superviseIntervalSeconds: 10,
} satisfies ConstructorOptions

/** The database's errors mean what they do everywhere; one of pg-boss itself has nothing but its message. */
const failed = (operation: string) => (error: unknown) => {
  const found = toDatabaseError(operation, error)
  return found.reason === "Other" && found.sqlstate === undefined
    ? databaseError("Other", operation, error instanceof Error ? error.message : String(error))
    : found
}

/** A worker that says nothing for so many seconds is gone: another one takes its jobs. */
export const heartbeatSeconds = 30

/** Waits that suit the work of a book. Seconds. */
const queueOptions = {
  retryLimit: 5,
  retryDelay: 2,
  retryBackoff: true,
  retryDelayMax: 60,
  expireInSeconds: 6 * 3_600,
  heartbeatSeconds,
  deleteAfterSeconds: 3_600,
}

/** Giving a book up is tried for as long as it takes, since the leader of the run waits until it is recorded. */
const deadOptions = { ...queueOptions, retryLimit: 1_000, retryDelayMax: 10 }

/** Makes pg-boss's tables and the queues, or brings them up to date. As the owner of the schema, or who may make it. */
export const migrateJobs = (settings: ConnectionSettings): Effect.Effect<void, NoWorkers | DatabaseError> =>
  Effect.flatMap(loaded, ({ PgBoss: Boss }) =>
    Effect.tryPromise({
      try: async () => {
        const { close, db } = bossDatabase(settings)
        const boss = new Boss({ ...options, db, migrate: true, createSchema: true, supervise: false })
        boss.on("error", () => undefined)
        try {
          await boss.start()
          await boss.createQueue(deadQueue, deadOptions)
          await boss.createQueue(bookQueue, { ...queueOptions, policy: "stately", deadLetter: deadQueue })
          // Updates queues that an earlier version made.
          await boss.updateQueue(deadQueue, deadOptions)
          await boss.updateQueue(bookQueue, queueOptions)
        } finally {
          await boss.stop({ graceful: false }).catch(() => undefined)
          await close()
        }
      },
      catch: failed("Jobs.migrate"),
    }),
  )

/** A running pg-boss; stops with the scope, when what is under way has ended. */
export const boss = (settings: ConnectionSettings, supervise: boolean) =>
  Effect.flatMap(loaded, ({ PgBoss: Boss }) =>
    Effect.map(
      Effect.acquireRelease(
        Effect.tryPromise({
          try: async () => {
            const { close, db } = bossDatabase(settings)
            const made: PgBoss = new Boss({ ...options, db, supervise })
            // pg-boss goes on by itself; a failed statement is reported to its caller.
            made.on("error", () => undefined)
            try {
              await made.start()
            } catch (error) {
              await close()
              throw error
            }
            return { made, close }
          },
          catch: failed("Jobs.start"),
        }),
        ({ close, made }) =>
          Effect.promise(() =>
            made
              .stop({ graceful: true, timeout: 10_000 })
              .catch(() => undefined)
              .then(close),
          ),
      ),
      ({ made }) => made,
    ),
  )

/** Calls pg-boss as an effect. */
export const calling = <A>(operation: string, call: () => Promise<A>): Effect.Effect<A, DatabaseError> =>
  Effect.tryPromise({ try: call, catch: failed(operation) })
