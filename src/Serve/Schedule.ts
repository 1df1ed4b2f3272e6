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

/** A due time, and why the work runs. */
export interface Due {
  /** Epoch milliseconds. */
  readonly due: number
  readonly isMissed: boolean
}

/** A timer may fire a moment early; two due times are a minute apart. */
const slack = 30_000

/** A clock this many milliseconds before the last due time was ahead then: less is what a time server corrects. */
const setBack = 3_600_000

/** A due time counts as skipped if the timer has not fired this many milliseconds after it. */
const late = 60_000

/** One that came since the start was until then not missed, only noticed late: node-cron passes over local times that the clocks repeat or skip. */
const justDue = 5 * 60_000

export interface Scheduled<R> {
  /** For logs. */
  readonly name: string
  readonly expression: string
  readonly timeZone: string
  /** Each run first waits a random part of it. */
  readonly jitter: Duration.Duration
  readonly fields: CronFields
  /** The clock that decides at the start what was missed. Epoch milliseconds. */
  readonly now: Effect.Effect<number, never, R>
  /** Whether the work that was due at that time is still to be done; none: it cannot be told now, and is asked again. */
  readonly isMissed: (due: number) => Effect.Effect<Option.Option<boolean>, never, R>
  /** Reports its own failures. Once `stopping` ends it waits for nothing more. */
  readonly work: (due: Due, stopping: Effect.Effect<void>) => Effect.Effect<void, never, R>
  /** How long work under way may take at the end. */
  readonly grace: Duration.DurationInput
}

/** Starts the schedule; it ends with the scope, and so does work under way, after `grace`. */
export const startSchedule = Effect.fn("Serve.schedule")(function* <R>(scheduled: Scheduled<R>) {
  const { expression, fields, grace, isMissed, jitter, name, timeZone, work } = scheduled
  // One waiting run is enough: further due times while it runs ask for the same work.
  const due = yield* Queue.dropping<Due>(1)
  const stopping = yield* Deferred.make<void>()

  /** The last due time; the beginning of time where there is none. */
  const dueBefore = (now: number): number => Option.getOrElse(previousDue(fields, timeZone, now), () => 0)

  const once = (what: Due) =>
    Effect.gen(function* () {
      const wait = Math.round((yield* Random.next) * Duration.toMillis(jitter))
      const isOld =
        what.isMissed && (what.due <= last || (yield* Clock.currentTimeMillis) - what.due > justDue)
      yield* Effect.logInfo(isOld ? `The last ${name} was missed and runs now.` : `The ${name} is due.`)
      // Only work that has begun is waited for at the end.
      const stopped = yield* Effect.raceFirst(
        Effect.as(Effect.sleep(wait), false),
        Effect.as(Deferred.await(stopping), true),
      )
      if (!stopped) yield* work(what, Deferred.await(stopping))
      if ((yield* Queue.takeAll(due)).length > 0)
        yield* Effect.logWarning(`The ${name} fell due again while it ran; that one is left out.`)
    })

  const loop = Effect.raceFirst(Queue.take(due), Effect.as(Deferred.await(stopping), undefined)).pipe(
    Effect.flatMap((what) => (what === undefined ? Effect.succeed(true) : Effect.as(once(what), false))),
    Effect.repeat({ until: (stopped) => stopped }),
  )

  const clock = yield* Effect.clock
  const last = dueBefore(yield* scheduled.now)
  let rung = last
  const fiber = yield* Effect.forkDaemon(Effect.interruptible(loop))
  const ring = () => {
    const now = dueBefore(clock.unsafeCurrentTimeMillis() + slack)
    // node-cron fires again at a local time that the clocks repeat.
    if (now <= rung) return
    rung = now
    void Queue.unsafeOffer(due, { due: now, isMissed: false })
  }
  const task = createTask(expression, ring, {
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

  /** Begins what was missed. Returns whether that could be told. */
  const makeUpFor = (missed: number) =>
    Effect.tap(Effect.map(isMissed(missed), Option.getOrNull), (found) =>
      found === true ? Queue.offer(due, { due: missed, isMissed: true }) : Effect.void,
    ).pipe(Effect.map((found) => found !== null))

  if (!(yield* makeUpFor(last)) && rung === last) rung = 0

  // A timer only counts the seconds that the machine is awake, and does not notice that the clock was set.
  const look = Effect.gen(function* () {
    const now = clock.unsafeCurrentTimeMillis()
    const leapt = dueBefore(now - late)
    // Otherwise nothing would be due until the time that the clock showed by mistake.
    if (now < rung - setBack) rung = 0
    if (leapt <= rung) return
    const before = rung
    rung = leapt
    // A machine that wakes up may have no network for a while.
    if (!(yield* makeUpFor(leapt)) && rung === leapt) rung = before
  })
  yield* Effect.forkScoped(Effect.interruptible(Effect.forever(Effect.delay(look, "30 seconds"))))
})
