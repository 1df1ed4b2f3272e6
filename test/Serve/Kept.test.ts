import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, TestClock } from "effect"
import { keptFor } from "../../src/Serve/Kept.ts"
import { clockSetBack } from "../support/ClockSetBack.ts"

it.scoped("the database is probed once for however many ask, and again after five seconds", () =>
  Effect.gen(function* () {
    let probes = 0
    const gate = yield* Deferred.make<void>()
    const ready = yield* keptFor(
      "5 seconds",
      Effect.suspend(() => {
        probes++
        return Effect.as(Deferred.await(gate), probes)
      }),
    )
    const [first, ...others] = yield* Effect.forEach(Array.from({ length: 50 }), () => Effect.fork(ready))
    yield* Effect.yieldNow()
    // Whoever asked first goes away, and the others have their answer all the same.
    if (first !== undefined) yield* Fiber.interrupt(first)
    yield* Deferred.succeed(gate, undefined)
    expect(new Set(yield* Effect.forEach(others, Fiber.join))).toEqual(new Set([1]))
    yield* TestClock.adjust("4 seconds")
    expect(yield* ready).toBe(1)
    yield* TestClock.adjust("2 seconds")
    expect(yield* ready).toBe(2)
  }),
)

it.scoped("the database is probed again after five seconds, where the clock was ahead and is set right", () =>
  Effect.gen(function* () {
    let probes = 0
    const ready = yield* keptFor(
      "5 seconds",
      Effect.sync(() => ++probes),
    )
    expect(yield* ready).toBe(1)
    yield* TestClock.adjust("6 seconds")
    expect(yield* clockSetBack("1 day")(ready)).toBe(2)
  }),
)

it.scoped("what takes longer than its answer is kept is not asked for anew by each request", () =>
  Effect.gen(function* () {
    let asked = 0
    const slow = yield* keptFor(
      "3 seconds",
      Effect.suspend(() => Effect.as(Effect.sleep("5 seconds"), ++asked)),
    )
    const first = yield* Effect.fork(slow)
    yield* TestClock.adjust("5 seconds")
    expect(yield* Fiber.join(first)).toBe(1)
    yield* TestClock.adjust("2 seconds")
    const second = yield* Effect.fork(slow)
    yield* TestClock.adjust("500 millis")
    expect(yield* Fiber.join(second)).toBe(1)
    // Kept from when it came, and no longer than others.
    yield* TestClock.adjust("1 seconds")
    const third = yield* Effect.fork(slow)
    yield* TestClock.adjust("5 seconds")
    expect(yield* Fiber.join(third)).toBe(2)
  }),
)

it.scoped("an answer that took an hour, in a process that was stopped, is not kept for an hour", () =>
  Effect.gen(function* () {
    let asked = 0
    const stopped = yield* keptFor(
      "5 seconds",
      Effect.suspend(() => Effect.as(Effect.sleep(asked++ === 0 ? "1 hour" : 0), asked)),
    )
    const first = yield* Effect.fork(stopped)
    yield* TestClock.adjust("1 hour")
    yield* Fiber.join(first)
    yield* TestClock.adjust("6 seconds")
    const second = yield* Effect.fork(stopped)
    yield* TestClock.adjust("1 seconds")
    expect(yield* Fiber.join(second)).toBe(2)
  }),
)
