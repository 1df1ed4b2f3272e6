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
