import { expect, it } from "@effect/vitest"
import { Effect, Logger, TestClock } from "effect"
import { warnEachMinute } from "../../src/Sync/Events/RepeatedWarning.ts"
import { clockSetBack } from "../support/ClockSetBack.ts"

it.effect("a warning comes once a minute, also where the clock was ahead and is set right", () => {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel.ordinal >= 30_000) lines.push(String(message))
  })
  return Effect.gen(function* () {
    const warn = warnEachMinute((why) => `Events wait: ${why}`)({ message: "away" })
    yield* warn
    yield* warn
    expect(lines).toEqual(["Events wait: away"])
    yield* TestClock.adjust("1 minute")
    yield* clockSetBack("1 day")(warn)
    expect(lines).toHaveLength(2)
  }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
})

it.effect("is one line, also of a reason that has several", () => {
  const lines: Array<string> = []
  const logger = Logger.make(({ message }) => void lines.push(String(message)))
  return Effect.gen(function* () {
    yield* warnEachMinute((why) => `Events wait: ${why}`)({ message: "the zone is another\nSet it back" })
    expect(lines).toEqual(["Events wait: the zone is another. Set it back"])
  }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
})
