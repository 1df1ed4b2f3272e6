import { expect, it } from "@effect/vitest"
import {
  Deferred,
  Duration,
  Effect,
  Either,
  Exit,
  Fiber,
  Logger,
  LogLevel,
  Option,
  Queue,
  Scope,
  TestClock,
} from "effect"
import { afterEach, describe, vi } from "vitest"
import { parseCron } from "../../src/Serve/Cron.ts"
import { type Due, startSchedule } from "../../src/Serve/Schedule.ts"

const expression = "30 3 * * *"
const fields = Either.getOrThrowWith(parseCron(expression), (text) => new Error(text))

const quiet = {
  ...{ name: "test", expression, timeZone: "UTC", jitter: Duration.zero, fields, grace: Duration.seconds(5) },
  now: Effect.clockWith((clock) => clock.currentTimeMillis),
} as const

const starting = (work: Effect.Effect<void>, missed: boolean, grace: Duration.DurationInput = "5 seconds") =>
  startSchedule({ ...quiet, isMissed: () => Effect.succeedSome(missed), work: () => work, grace }).pipe(
    Logger.withMinimumLogLevel(LogLevel.None),
  )

describe("the schedule", () => {
  afterEach(() => void vi.useRealTimers())

  it.live("runs a missed night at once, and nothing else", () =>
    Effect.gen(function* () {
      let runs = 0
      const count = Effect.sync(() => {
        runs += 1
      })
      yield* Effect.scoped(Effect.zipRight(starting(count, false), Effect.sleep("50 millis")))
      expect(runs).toBe(0)
      const begun = yield* Deferred.make<void>()
      const missed = Effect.zipRight(count, Deferred.succeed(begun, undefined))
      yield* Effect.scoped(Effect.zipRight(starting(missed, true), Deferred.await(begun)))
      expect(runs).toBe(1)
    }),
  )

  it.scoped(
    "runs what the clock leapt over, or the machine slept through, within two minutes, and once",
    () =>
      Effect.gen(function* () {
        const begun = yield* Queue.unbounded<Due>()
        yield* TestClock.setTime(Date.UTC(2026, 9, 24, 3, 10))
        yield* startSchedule({
          ...quiet,
          isMissed: () => Effect.succeedSome(true),
          work: (due) => Queue.offer(begun, due),
        })
        // The run of the day before, when it starts.
        yield* Queue.take(begun)
        // node-cron counts its own milliseconds from the start and does not notice the jump.
        yield* TestClock.setTime(Date.UTC(2026, 9, 24, 4, 30))
        yield* TestClock.adjust("2 minutes")
        expect(yield* Queue.take(begun)).toEqual({ due: Date.UTC(2026, 9, 24, 3, 30), isMissed: true })
        yield* TestClock.setTime(Date.UTC(2026, 9, 24, 3, 10))
        yield* TestClock.adjust("3 hours")
        expect(yield* Queue.size(begun)).toBe(0)
      }).pipe(Logger.withMinimumLogLevel(LogLevel.None)),
  )

  it.scoped("asks again where it cannot be told at first whether a night was missed, and runs it once", () =>
    Effect.gen(function* () {
      const begun = yield* Queue.unbounded<Due>()
      const answers: Array<Option.Option<boolean>> = []
      const day = (hour: number, minute: number) => Date.UTC(2026, 9, 24, hour, minute)
      yield* TestClock.setTime(day(3, 10))
      yield* startSchedule({
        ...quiet,
        isMissed: () => Effect.sync(() => answers.shift() ?? Option.some(true)),
        work: (due) => Queue.offer(begun, due),
      })
      expect(yield* Queue.take(begun)).toMatchObject({ isMissed: true })
      // A machine that wakes up may have no network for a while.
      answers.push(Option.none(), Option.none())
      yield* TestClock.setTime(day(4, 30))
      yield* TestClock.adjust("3 minutes")
      expect(yield* Queue.take(begun)).toEqual({ due: day(3, 30), isMissed: true })
      yield* TestClock.adjust("3 hours")
      expect(yield* Queue.size(begun)).toBe(0)
    }).pipe(Logger.withMinimumLogLevel(LogLevel.None)),
  )

  it.scoped("asks again after a start at which that could not be told", () =>
    Effect.gen(function* () {
      const begun = yield* Queue.unbounded<Due>()
      const answers: Array<Option.Option<boolean>> = [Option.none()]
      yield* TestClock.setTime(Date.UTC(2026, 9, 24, 5))
      yield* startSchedule({
        ...quiet,
        isMissed: () => Effect.sync(() => answers.shift() ?? Option.some(true)),
        work: (due) => Queue.offer(begun, due),
      })
      yield* TestClock.adjust("1 minute")
      expect(yield* Queue.take(begun)).toEqual({ due: Date.UTC(2026, 9, 24, 3, 30), isMissed: true })
      yield* TestClock.adjust("3 hours")
      expect(yield* Queue.size(begun)).toBe(0)
    }).pipe(Logger.withMinimumLogLevel(LogLevel.None)),
  )

  it("goes on at the next due time where the clock was days ahead for a while", async () => {
    const start = Date.UTC(2026, 9, 24, 2)
    vi.useFakeTimers({ now: start })
    const begun: Array<number> = []
    const schedule = startSchedule({
      ...quiet,
      isMissed: (due) => Effect.succeedSome(due > start),
      work: (due) => Effect.sync(() => void begun.push(due.due)),
    })
    const fiber = Effect.runFork(
      Effect.scoped(Effect.zipRight(schedule, Effect.never)).pipe(Logger.withMinimumLogLevel(LogLevel.None)),
    )
    await vi.advanceTimersByTimeAsync(1_000)
    vi.setSystemTime(Date.UTC(2026, 10, 3, 12))
    await vi.advanceTimersByTimeAsync(120_000)
    expect(begun).toEqual([Date.UTC(2026, 10, 3, 3, 30)])
    vi.setSystemTime(Date.UTC(2026, 9, 24, 2, 10))
    await vi.advanceTimersByTimeAsync(3 * 3_600_000)
    const ended = Effect.runPromise(Fiber.interrupt(fiber))
    await vi.advanceTimersByTimeAsync(60_000)
    await ended
    expect(begun.slice(1)).toEqual([Date.UTC(2026, 9, 24, 3, 30)])
  })

  it.each([
    // The clocks show 03:30 twice, and a year later not at all.
    ["2026-10-25T00:29:10Z", Date.UTC(2026, 9, 25, 0, 30)],
    ["2027-03-28T00:59:10Z", Date.UTC(2027, 2, 28, 1, 30)],
  ])("runs once in a night of a change of clocks: %s", async (start, expected) => {
    vi.useFakeTimers({ now: new Date(start) })
    const begun: Array<number> = []
    const said: Array<string> = []
    const schedule = startSchedule({
      ...{ ...quiet, timeZone: "Europe/Helsinki" },
      isMissed: (due) => Effect.succeedSome(due > Date.parse(start)),
      work: (due) => Effect.sync(() => void begun.push(due.due)),
    })
    const fiber = Effect.runFork(
      Effect.scoped(Effect.zipRight(schedule, Effect.never)).pipe(
        Effect.provide(
          Logger.replace(
            Logger.defaultLogger,
            Logger.make(({ message }) => void said.push(String(message))),
          ),
        ),
      ),
    )
    await vi.advanceTimersByTimeAsync(3 * 3_600_000)
    const ended = Effect.runPromise(Fiber.interrupt(fiber))
    await vi.advanceTimersByTimeAsync(60_000)
    await ended
    expect(begun).toEqual([expected])
    // node-cron does not ring then; what is noticed a minute late was not missed.
    expect(said).toEqual(["The test is due."])
  })

  it.live("waits at the end for work that has begun", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      let finished = false
      const work = Effect.zipRight(Deferred.succeed(begun, undefined), Effect.sleep("100 millis")).pipe(
        Effect.andThen(
          Effect.sync(() => {
            finished = true
          }),
        ),
      )
      const scope = yield* Scope.make()
      yield* Scope.extend(starting(work, true), scope)
      yield* Deferred.await(begun)
      yield* Scope.close(scope, Exit.void)
      expect(finished).toBe(true)
    }),
  )

  it.live("stops work that takes longer than the grace period", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<boolean>()
      const work = Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never).pipe(
        Effect.onInterrupt(() => Deferred.succeed(ended, true)),
      )
      const scope = yield* Scope.make()
      yield* Scope.extend(starting(work, true, "50 millis"), scope)
      yield* Deferred.await(begun)
      yield* Scope.close(scope, Exit.void)
      expect(yield* Fiber.join(yield* Effect.fork(Deferred.await(ended)))).toBe(true)
    }),
  )
})
