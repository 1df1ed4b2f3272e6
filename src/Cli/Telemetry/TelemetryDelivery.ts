/**
 * Sends to the collector. Drops everything that the collector does not accept in time: a collector that is down costs no
 * memory, and neither fails nor delays anything.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { Effect, Layer } from "effect"

const requestTimeout = "2 seconds"
/** Concurrent requests: one each for traces, metrics and logs, and one more while another is slow. */
const mostRequests = 4
/** How often the log says that nothing arrives. */
const warningEveryMillis = 60_000

const warn = (warnedAt: { at: number }, why: string) =>
  Effect.suspend(() => {
    const now = performance.now()
    if (now - warnedAt.at < warningEveryMillis) return Effect.void
    warnedAt.at = now
    return Effect.logWarning(
      `The collector of OTEL_EXPORTER_OTLP_ENDPOINT takes no telemetry (${why}): it is dropped until it does.`,
    )
  })

const make = Effect.gen(function* () {
  const client = yield* HttpClient.HttpClient
  const warnedAt = { at: Number.NEGATIVE_INFINITY }
  let underWay = 0
  return HttpClient.make((request) => {
    // Reported as accepted, so that the exporter neither keeps it nor retries.
    const dropped = HttpClientResponse.fromWeb(request, new Response(null, { status: 204 }))
    if (underWay >= mostRequests) return Effect.as(warn(warnedAt, "it is too slow"), dropped)
    return Effect.suspend(() => {
      underWay += 1
      return client.execute(request)
    }).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          underWay -= 1
        }),
      ),
      Effect.timeoutFail({ duration: requestTimeout, onTimeout: () => ({ _tag: "Timeout" as const }) }),
      Effect.flatMap(({ status }) =>
        status >= 200 && status < 300 ? Effect.void : warn(warnedAt, `it answered ${status}`),
      ),
      Effect.catchAll((error) =>
        warn(
          warnedAt,
          error._tag === "Timeout" ? `no answer within ${requestTimeout}` : "it cannot be reached",
        ),
      ),
      Effect.as(dropped),
    )
  })
})

/** A redirect is not followed: the headers may hold the collector's key. */
export const delivery: Layer.Layer<HttpClient.HttpClient> = Layer.effect(HttpClient.HttpClient, make).pipe(
  Layer.provide(FetchHttpClient.layer),
  Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { redirect: "manual" })),
)
