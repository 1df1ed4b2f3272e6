/**
 * Runs work on a schedule in the accounting time zone: never twice at once, and right at the start if the last time was missed.
 * node-cron triggers it; the database knows what ran, so that a restart changes nothing.
 */
import { Clock, Deferred, Duration, Effect, Either, Fiber, Option, Queue, Random } from "effect"
import { createTask } from "node-cron"
import type { Nightly } from "../Settings/Servers.ts"
import { SettingsError } from "../Settings.ts"
import { type CronFields, parseCron, previousDue } from "./Cron.ts"

/** The fields of the schedule; undefined: nothing is scheduled. */
export const scheduleFields = ({ nightly }: Nightly): Either.Either<CronFields | undefined, SettingsError> =>
  nightly === null
    ? Either.right(undefined)
    : Either.mapLeft(
        parseCron(nightly),
        (text) =>
          new SettingsError({
            reason: "Invalid",
            mistakes: [`schedule.nightly: ${text}`],
            advice: 'Expected five cron fields (minute hour day month weekday) such as "30 3 * * *".',
          }),
      )

/** Whether a time has passed since the last success, epoch milliseconds; undefined: it never succeeded. */
export const isOverdue = (
  fields: CronFields,
  timeZone: string,
  lastSuccess: number | undefined,
  now: number,
): boolean =>
  lastSuccess === undefined || Option.exists(previousDue(fields, timeZone, now), (due) => lastSuccess < due)

export interface Scheduled<R> {
  /** For logs. */
  readonly name: string
  readonly expression: string
  readonly timeZone: string
  /** Each run first waits a random part of it. */
  readonly jitter: Duration.Duration
  readonly fields: CronFields
  /** Epoch milliseconds; undefined: never. */
  readonly lastSuccess: Effect.Effect<number | undefined, never, R>
  /** Reports its own failures. */
  readonly work: Effect.Effect<void, never, R>
  /** How long work under way may take at the end. */
  readonly grace: Duration.DurationInput
}

/** Starts the schedule; it ends with the scope, and so does work under way, after `grace`. */
export const startSchedule = Effect.fn("Serve.schedule")(function* <R>(scheduled: Scheduled<R>) {
  const { expression, fields, grace, jitter, lastSuccess, name, timeZone, work } = scheduled
  // One waiting run is enough: further due times while it runs ask for the same work.
  const due = yield* Queue.dropping<"scheduled" | "missed">(1)
  const stopping = yield* Deferred.make<void>()

  const once = (why: "scheduled" | "missed") =>
    Effect.gen(function* () {
      const wait = Math.round((yield* Random.next) * Duration.toMillis(jitter))
      yield* Effect.logInfo(
        why === "missed" ? `The last ${name} was missed and runs now.` : `The ${name} is due.`,
      )
      // Only work that has begun is waited for at the end.
      const stopped = yield* Effect.raceFirst(
        Effect.as(Effect.sleep(wait), false),
        Effect.as(Deferred.await(stopping), true),
      )
      if (!stopped) yield* work
      if ((yield* Queue.takeAll(due)).length > 0)
        yield* Effect.logWarning(`The ${name} fell due again while it ran; that one is left out.`)
    })

  const loop = Effect.raceFirst(Queue.take(due), Effect.as(Deferred.await(stopping), undefined)).pipe(
    Effect.flatMap((why) => (why === undefined ? Effect.succeed(true) : Effect.as(once(why), false))),
    Effect.repeat({ until: (stopped) => stopped }),
  )
  const fiber = yield* Effect.forkDaemon(Effect.interruptible(loop))

  const task = createTask(expression, () => void Queue.unsafeOffer(due, "scheduled"), {
    timezone: timeZone,
    name,
    noOverlap: true,
    suppressMissedWarning: true,
  })
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      yield* Effect.promise(async () => task.destroy())
      yield* Deferred.succeed(stopping, undefined)
      const ended = yield* Fiber.await(fiber).pipe(Effect.interruptible, Effect.timeoutOption(grace))
      if (Option.isSome(ended)) return
      yield* Effect.logWarning(
        `The ${name} is stopped; what it has committed stays, and the next one goes on from there.`,
      )
      yield* Fiber.interrupt(fiber)
    }),
  )
  yield* Effect.promise(async () => task.start())

  const now = yield* Clock.currentTimeMillis
  if (isOverdue(fields, timeZone, yield* lastSuccess, now)) yield* Queue.offer(due, "missed")
})
