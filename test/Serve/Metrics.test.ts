import { createHash } from "node:crypto"
import { expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { describe } from "vitest"
import * as PartnerHttp from "../../src/Partner/Http.ts"
import { Settings } from "../../src/Settings.ts"
import { Events } from "../../src/Sync/Events.ts"
import { Sync } from "../../src/Sync.ts"
import { Inbox } from "../../src/Webhook/Inbox.ts"
import { accountId, credit, id, partnership } from "../Sync/Partnership.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { ask, serving } from "./Asking.ts"
import { type ReadFamily, readMetrics } from "./MetricsText.ts"

/** Counters belong to the process and its other tests, so that this connection has a name of its own. */
const connection = "metered"

const variablesFor = (url: string) => ({
  TIEOUT_CONNECTIONS: `{ ${connection}: {} }`,
  TIEOUT_METERED_BASE_URL: url,
  TIEOUT_METERED_CLIENT_ID: "sandbox-client",
  TIEOUT_METERED_CLIENT_SECRET: "sandbox-secret",
  TIEOUT_METERED_SCOPE: "accounts:read",
})

/** One event, from its receipt to the books. */
const oneEvent = Effect.gen(function* () {
  const settings = yield* Settings
  const inbox = yield* Inbox
  const body = Buffer.from(JSON.stringify({ data: { accountId } }))
  const digest = createHash("sha256").update(body).digest("hex")
  const event = { connection, eventId: id(700), digest, body, poison: null }
  yield* inbox.put([{ ...event, type: "account.credited", keyId: "k", algorithm: "ES256" }])
  const partner = PartnerHttp.layer({ ...(yield* settings.connection(connection)), limits: settings.limits })
  return yield* (yield* Events).round(connection).pipe(Effect.provide(partner))
})

const services = (url: string) =>
  Layer.mergeAll(Sync.Default, Events.Default).pipe(
    Layer.provideMerge(Inbox.Default),
    Layer.provideMerge(Settings.from({ variables: variablesFor(url) })),
  )

/** The samples of a family for the connection, and those without a connection. */
const samplesOf = (family: ReadFamily | undefined) =>
  (family?.samples ?? []).filter(({ labels }) => (labels.connection ?? connection) === connection)

const values = (family: ReadFamily | undefined, label: string): Record<string, number> =>
  Object.fromEntries(samplesOf(family).map(({ labels, value }) => [labels[label] ?? "", value]))

describe("/metrics", () => {
  it.scopedLive("counts requests, retries, the pace, runs and events", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership()
      let refusals = 2
      held.statement = [credit(1, "5.00", "5.00")]
      held.balance = "5.00"
      held.interfere = (path, response) => {
        if (!path.startsWith("/deposits") || refusals === 0) return false
        refusals -= 1
        response.writeHead(refusals === 1 ? 503 : 429, { "retry-after": "0" }).end()
        return true
      }
      yield* Effect.gen(function* () {
        yield* (yield* Sync).run({ connection, full: false })
        held.statement.push(credit(2, "2.00", "7.00"))
        held.balance = "7.00"
        expect(Option.getOrThrow(yield* oneEvent)).toMatchObject({ events: 1, entries: 1 })
      }).pipe(Effect.provide(services(service.url)))

      const port = yield* serving({ TIEOUT_CONNECTIONS: `{ ${connection}: {} }` })
      const families = readMetrics((yield* ask(port, "/metrics")).body)
      const statuses = values(families.get("tieout_requests_total"), "status")
      expect([statuses["503"], statuses["429"]]).toEqual([1, 1])
      expect(Object.values(statuses).reduce((sum, count) => sum + count, 0)).toBe(service.calls.length)
      expect(values(families.get("tieout_retries_total"), "cause")).toEqual({
        Unavailable: 1,
        RateLimited: 1,
      })
      const rate = families.get("tieout_pace_requests_per_second")
      expect(rate?.type).toBe("gauge")
      expect(samplesOf(rate)).toMatchObject([{ labels: { connection }, value: expect.any(Number) }])
      expect(values(families.get("tieout_pace_concurrency"), "connection")[connection]).toBeGreaterThan(0)
      expect(values(families.get("tieout_runs_total"), "state")).toEqual({ done: 2 })
      expect(values(families.get("tieout_entries_read_total"), "connection")).toEqual({ [connection]: 2 })
      expect(values(families.get("tieout_inbox_depth"), "")).toEqual({ "": 0 })
      for (const name of ["tieout_open_findings", "tieout_quarantine_rows", "tieout_stream_lag_seconds"])
        expect(samplesOf(families.get(name)).length).toBeGreaterThan(0)

      const latency = families.get("tieout_event_to_post_seconds")
      const of = (suffix: string) =>
        samplesOf(latency).filter(({ name }) => name === `tieout_event_to_post_seconds${suffix}`)
      const buckets = of("_bucket")
      expect(latency?.type).toBe("histogram")
      expect(buckets.map(({ labels }) => Number(labels.le?.replace("Inf", "Infinity")))).toEqual([
        ...[0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200],
        Number.POSITIVE_INFINITY,
      ])
      const counts = buckets.map(({ value }) => value)
      expect(counts).toEqual([...counts].sort((a, b) => a - b))
      expect([counts.at(-1), of("_count")[0]?.value]).toEqual([1, 1])
      expect(of("_sum")[0]?.value).toBeGreaterThan(0)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("says how long the process runs, whatever the clock shows and since when it serves", () =>
    Effect.gen(function* () {
      const before = process.uptime()
      const port = yield* serving({})
      const families = readMetrics((yield* ask(port, "/metrics")).body)
      expect(families.get("tieout_uptime_seconds")?.samples[0]?.value).toBeGreaterThan(before)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
