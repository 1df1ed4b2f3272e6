import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Logger } from "effect"
import { describe } from "vitest"
import { Database } from "../../src/Database.ts"
import { Alerts } from "../../src/Serve/Alerts.ts"
import { Nightly } from "../../src/Serve/Nightly.ts"
import { Settings } from "../../src/Settings.ts"
import { Sync } from "../../src/Sync.ts"
import { credit, partnership } from "../Sync/Partnership.ts"
import { rows, variablesFor } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { hasted, waits } from "./Hasted.ts"
import { thisNight } from "./ThisNight.ts"

const night = (url: string, waited: Array<number>, variables: Record<string, string> = {}) => {
  const lines: Array<string> = []
  const logger = Logger.make(({ message }) => void lines.push(String(message)))
  return hasted(
    Effect.flatMap(Nightly, ({ run }) => thisNight(run)),
    waited,
  ).pipe(
    Effect.provide(
      Nightly.Default.pipe(
        Layer.provide(Layer.merge(Alerts.Default, Sync.Default)),
        Layer.provideMerge(
          Settings.from({ variables: { ...variablesFor(url), TIEOUT_LIMITS_TRIES: "1", ...variables } }),
        ),
        Layer.provideMerge(Logger.replace(Logger.defaultLogger, logger)),
      ),
    ),
    Effect.as(lines),
  )
}

const states = rows("select state, summary->>'code' as code from sync.runs order by run_id")

describe("a night in which the service is away", () => {
  it.scopedLive("ends by itself: it is tried again until it is read, with one alert", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership()
      held.statement = [credit(1, "5.00", "5.00")]
      held.balance = "5.00"
      let refused = 0
      held.interfere = (_, response) => {
        if (refused++ >= 3) return false
        response.writeHead(503).end()
        return true
      }
      const waited: Array<number> = []
      const lines = yield* night(service.url, waited)
      expect(waited).toEqual(waits.slice(0, waited.length))
      expect(waited.length).toBeGreaterThan(0)
      expect(lines).toContain("Away: default. It is tried again in 1m; what was committed stays.")
      expect(lines.filter((line) => line.startsWith("Alert"))).toHaveLength(1)
      expect(yield* rows("select amount::text from mirror.statement_entries")).toEqual([{ amount: "5.00" }])
      const [first, ...others] = yield* states
      expect(first).toMatchObject({ state: "stopped" })
      expect(others.at(-1)).toMatchObject({ state: "done" })
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("is over at the deadline, with an alert", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership()
      held.interfere = (_, response) => {
        response.writeHead(503).end()
        return true
      }
      const waited: Array<number> = []
      const lines = yield* night(service.url, waited, { TIEOUT_LIMITS_RUN_DEADLINE: "90 seconds" })
      expect(waited).toEqual([1])
      expect(lines.filter((line) => line.startsWith("Alert (failure)")).at(-1)).toContain(
        "stayed away until limits.runDeadline",
      )
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("is tried again only a few times where a part of it can be read", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership()
      held.interfere = (path, response) => {
        if (!path.includes("/statement")) return false
        response.writeHead(500).end()
        return true
      }
      const waited: Array<number> = []
      const lines = yield* night(service.url, waited)
      expect(waited).toEqual([1, 2, 4, 8])
      expect(lines.filter((line) => line.startsWith("Alert (failure)"))).toHaveLength(1)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("is tried to the deadline where neither the organization nor a client can be read", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership()
      const waited: Array<number> = []
      held.interfere = (_, response) => {
        if (waited.length >= 6) return false
        response.writeHead(503).end()
        return true
      }
      yield* night(service.url, waited, {
        TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, client]}}",
      })
      expect(waited).toEqual([1, 2, 4, 8, 15, 15])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("is not tried again where a person must act", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership()
      held.interfere = (_, response) => {
        response.writeHead(403).end()
        return true
      }
      const waited: Array<number> = []
      yield* night(service.url, waited)
      expect(waited).toEqual([])
      expect(yield* states).toMatchObject([{ state: "failed" }])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  describe("where another run has the connection, which may not read it", () => {
    /** As a reclassification, an archive or a sync of one client has it, until somebody has waited. */
    const taken = (waited: ReadonlyArray<number>) =>
      Effect.gen(function* () {
        const database = yield* Database
        const locked = yield* Deferred.make<void>()
        const waiting = Effect.repeat(Effect.delay(Effect.void, "20 millis"), {
          until: () => waited.length > 0,
        })
        yield* Effect.fork(
          database.withSessionLock(
            "sync:default",
            Effect.zipRight(Deferred.succeed(locked, undefined), waiting),
          ),
        )
        yield* Deferred.await(locked)
      })

    it.scopedLive("is tried again once that has ended", () =>
      Effect.gen(function* () {
        const { held, service } = yield* partnership()
        held.statement = [credit(1, "5.00", "5.00")]
        held.balance = "5.00"
        const waited: Array<number> = []
        yield* taken(waited)
        const lines = yield* night(service.url, waited)
        expect(lines).toContain("Another run has default. It is tried again in 1m.")
        expect(lines.filter((line) => line.startsWith("Alert (failure)"))).toEqual([])
        expect(yield* rows("select amount::text from mirror.statement_entries")).toEqual([{ amount: "5.00" }])
      }).pipe(Effect.provide(TestDatabase.layer)),
    )

    it.scopedLive("says so of an outage that comes after it", () =>
      Effect.gen(function* () {
        const { held, service } = yield* partnership()
        let refused = 0
        held.interfere = (_, response) => {
          if (refused++ >= 3) return false
          response.writeHead(503).end()
          return true
        }
        const waited: Array<number> = []
        yield* taken(waited)
        const lines = yield* night(service.url, waited)
        expect(lines.filter((line) => line.startsWith("Alert (failure)"))).toHaveLength(1)
      }).pipe(Effect.provide(TestDatabase.layer)),
    )

    it.scopedLive("is said to have been left out, where that lasts to the deadline", () =>
      Effect.gen(function* () {
        const { service } = yield* partnership()
        yield* taken([])
        const lines = yield* night(service.url, [], { TIEOUT_LIMITS_RUN_DEADLINE: "90 seconds" })
        expect(lines.filter((line) => line.startsWith("Alert (failure)"))).toEqual([
          "Alert (failure): Another run had connection default until limits.runDeadline: the night did not read it.",
        ])
      }).pipe(Effect.provide(TestDatabase.layer)),
    )
  })
})
