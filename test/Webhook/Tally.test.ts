import { expect, it } from "@effect/vitest"
import { Effect, Fiber, Logger, Metric, MetricState, TestClock } from "effect"
import { describe } from "vitest"
import { Refusal } from "../../src/Webhook/Receiver.ts"
import { Tally } from "../../src/Webhook/Tally.ts"
import { clockSetBack } from "../support/ClockSetBack.ts"

const unsigned = new Refusal({
  status: 401,
  verdict: "unsigned",
  detail: "the signature does not fit the body",
})
const busy = new Refusal({
  status: 503,
  verdict: "not-durable",
  detail: "too much is waiting for the database",
  notable: true,
})

/** The messages of warnings and errors. */
const listening = () => {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel.ordinal >= 30_000) lines.push(String(message))
  })
  return { lines, layer: Logger.replace(Logger.defaultLogger, logger) }
}

const counterOf = (connection: string): Record<string, number> =>
  Object.fromEntries(
    Metric.unsafeSnapshot().flatMap(({ metricKey: { name, tags }, metricState }) => {
      const of = (key: string) => tags.find((tag) => tag.key === key)?.value ?? ""
      return name === "tieout_deliveries_total" &&
        of("connection") === connection &&
        MetricState.isCounterState(metricState)
        ? [[of("verdict"), Number(metricState.count)]]
        : []
    }),
  )

describe("the tally of deliveries", () => {
  it.effect("counts every delivery by connection and verdict, from zero on", () =>
    Effect.gen(function* () {
      const { record } = new Tally(["tally-a", "tally-b"])
      yield* record("tally-a", "stored")
      yield* Effect.replicateEffect(record("tally-a", unsigned), 3)
      yield* record("tally-b", busy)
      expect(counterOf("tally-a")).toEqual({
        ...Object.fromEntries(
          ["known", "conflict", "poison", "media", "too-large", "cut-short", "crowded", "too-old"].map(
            (verdict) => [verdict, 0],
          ),
        ),
        "keys-unavailable": 0,
        "not-durable": 0,
        stored: 1,
        unsigned: 3,
      })
      expect(counterOf("tally-b")).toMatchObject({ stored: 0, unsigned: 0, "not-durable": 1 })
    }).pipe(Effect.provide(listening().layer)),
  )

  it.effect("logs refusals once a minute and at the end, a line for each connection and verdict", () => {
    const { layer, lines } = listening()
    return Effect.gen(function* () {
      const { record, watch } = new Tally(["default", "acme"])
      const watching = yield* Effect.fork(watch)
      yield* Effect.replicateEffect(record("default", unsigned), 12)
      yield* record("acme", unsigned)
      yield* TestClock.adjust("59 seconds")
      expect(lines).toEqual([])
      yield* TestClock.adjust("1 second")
      const told401 = (count: string) =>
        `${count} refused with 401 in the last minute; the last one because the signature does not fit the body. tieout webhook diagnose, with a delivery and the key, finds out how the service signs them.`
      expect(lines).toEqual([told401("12 deliveries were"), told401("1 delivery was")])
      yield* TestClock.adjust("5 minutes")
      expect(lines).toHaveLength(2)
      yield* record("default", unsigned)
      yield* TestClock.adjust("1 minute")
      expect(lines.slice(2)).toEqual([told401("1 delivery was")])
      yield* record("default", unsigned)
      yield* Fiber.interrupt(watching)
      expect(lines.slice(3)).toEqual([told401("1 delivery was")])
    }).pipe(Effect.provide(layer))
  })

  it.effect(
    "tells at once of what an operator should know, and counts the same again for the next line",
    () => {
      const { layer, lines } = listening()
      return Effect.gen(function* () {
        const { tellRefused, record } = new Tally(["default"])
        yield* Effect.replicateEffect(record("default", busy), 5)
        expect(lines).toEqual(["A delivery was refused with 503: too much is waiting for the database"])
        yield* tellRefused
        expect(lines.slice(1)).toEqual([
          "4 deliveries were refused with 503 in the last minute; the last one because too much is waiting for the database.",
        ])
        // A reason of several sentences ends with a full stop of its own.
        yield* Effect.replicateEffect(
          record("default", { ...busy, detail: "the disk is full. Free some space." }),
          2,
        )
        yield* tellRefused
        expect(lines.slice(3)).toEqual([
          "1 delivery was refused with 503 in the last minute; the last one because the disk is full. Free some space.",
        ])
      }).pipe(Effect.provide(layer))
    },
  )

  it.effect("tells of it again a minute later, where the clock was ahead and is set right", () => {
    const { layer, lines } = listening()
    return Effect.gen(function* () {
      const { record } = new Tally(["default"])
      yield* record("default", busy)
      yield* TestClock.adjust("1 minute")
      yield* clockSetBack("1 day")(record("default", busy))
      expect(lines).toHaveLength(2)
    }).pipe(Effect.provide(layer))
  })
})
