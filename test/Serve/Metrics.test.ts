import { createHash } from "node:crypto"
import { expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { describe } from "vitest"
import { Events } from "../../src/Events.ts"
import * as PartnerHttp from "../../src/Partner/Http.ts"
import { Settings } from "../../src/Settings.ts"
import { Inbox } from "../../src/Webhook/Inbox.ts"
import { accountId, credit, id, partnership } from "../Sync/Partnership.ts"
import { sync, variablesFor } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { ask, serving } from "./Asking.ts"
import { type ReadFamily, readMetrics } from "./MetricsText.ts"

/** One event, from its receipt to the books. */
const oneEvent = (url: string) =>
  Effect.gen(function* () {
    const settings = yield* Settings
    const inbox = yield* Inbox
    const body = Buffer.from(JSON.stringify({ data: { accountId } }))
    const digest = createHash("sha256").update(body).digest("hex")
    const event = { connection: "default", eventId: id(700), digest, body, poison: null }
    yield* inbox.put([{ ...event, type: "account.credited", keyId: "k", algorithm: "ES256" }])
    const partner = PartnerHttp.layer({ ...(yield* settings.connection("default")), limits: settings.limits })
    return yield* (yield* Events).round("default").pipe(Effect.provide(partner))
  }).pipe(
    Effect.provide(
      Events.Default.pipe(
        Layer.provideMerge(Inbox.Default),
        Layer.provideMerge(Settings.from({ variables: variablesFor(url) })),
      ),
    ),
  )

const values = (family: ReadFamily | undefined, label: string): Record<string, number> =>
  Object.fromEntries((family?.samples ?? []).map(({ labels, value }) => [labels[label] ?? "", value]))

describe("/metrics", () => {
  it.scopedLive("tells of requests, retries, the pace, runs and events where they happen", () =>
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
      yield* sync(service.url)
      held.statement.push(credit(2, "2.00", "7.00"))
      held.balance = "7.00"
      expect(Option.getOrThrow(yield* oneEvent(service.url))).toMatchObject({ events: 1, entries: 1 })

      const port = yield* serving()
      const families = readMetrics((yield* ask(port, "/metrics")).body)
      const statuses = values(families.get("tieout_requests_total"), "status")
      expect([statuses["503"], statuses["429"]]).toEqual([1, 1])
      expect(Object.values(statuses).reduce((sum, count) => sum + count, 0)).toBe(service.calls.length)
      expect(values(families.get("tieout_retries_total"), "cause")).toEqual({
        Unavailable: 1,
        RateLimited: 1,
      })
      expect(families.get("tieout_pace_requests_per_second")).toMatchObject({
        type: "gauge",
        samples: [{ labels: { connection: "default" }, value: expect.any(Number) }],
      })
      expect(values(families.get("tieout_pace_concurrency"), "connection").default).toBeGreaterThan(0)
      expect(values(families.get("tieout_runs_total"), "state")).toEqual({ done: 2 })
      expect(values(families.get("tieout_entries_read_total"), "connection")).toEqual({ default: 2 })
      expect(values(families.get("tieout_inbox_depth"), "")).toEqual({ "": 0 })
      for (const name of ["tieout_open_findings", "tieout_quarantine_rows", "tieout_stream_lag_seconds"])
        expect(families.get(name)?.samples.length).toBeGreaterThan(0)

      const latency = families.get("tieout_event_to_post_seconds")
      const of = (suffix: string) =>
        (latency?.samples ?? []).filter(({ name }) => name === `tieout_event_to_post_seconds${suffix}`)
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
})
