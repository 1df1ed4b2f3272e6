/** A listener over loopback with the real database, a service that gives out keys, and deliveries sent to it. */
import { Agent, type IncomingHttpHeaders, request } from "node:http"
import { Duration, Effect, Layer, type Scope } from "effect"
import type { Database } from "../../src/Database.ts"
import { Settings } from "../../src/Settings.ts"
import { Inbox } from "../../src/Webhook/Inbox.ts"
import { listen, type WebhookOptions } from "../../src/Webhook.ts"
import { type Answerer, json, type Service, serve, uuid } from "../Partner/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { type Pair, signWith } from "./Keys.ts"

/** The settings that a test changes; the listener reads them. */
export const secretText = "hunter2-secret"

export const settingsAt = (url: string, variables: Record<string, string> = {}) =>
  Settings.from({
    variables: {
      TIEOUT_BASE_URL: url,
      TIEOUT_CLIENT_ID: "client",
      TIEOUT_CLIENT_SECRET: secretText,
      TIEOUT_SCOPE: "webhooks",
      ...variables,
    },
  })

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

/** Sends a request as it stands; arrays of values become several headers. */
export const send = (
  port: number,
  body: Uint8Array | string,
  headers: Record<string, string | ReadonlyArray<string>>,
  { method = "POST", path = "/webhooks/default" } = {},
): Effect.Effect<Reply> =>
  Effect.async((resume) => {
    const values = Object.entries(headers).map(([name, value]): [string, string | string[]] => [
      name,
      typeof value === "string" ? value : [...value],
    ])
    const sent = request(
      { host: "127.0.0.1", port, path, method, agent, headers: Object.fromEntries(values) },
      (response) => {
        let text = ""
        response.setEncoding("utf8")
        response.on("data", (chunk: string) => {
          text += chunk
        })
        response.on("end", () => {
          const { headers: got, statusCode = 0 } = response
          resume(Effect.succeed({ status: statusCode, headers: got, body: text }))
        })
      },
    )
    sent.on("error", (error) => resume(Effect.succeed({ status: -1, headers: {}, body: String(error) })))
    sent.end(body)
  })

export const eventOf = (index: number, more: object = {}): string =>
  JSON.stringify({
    id: uuid(index),
    timestamp: "2026-10-05T08:00:00Z",
    type: "deposit.completed",
    data: { depositId: uuid(index), status: "COMPLETED" },
    ...more,
  })

export const headersFor = (pair: Pair, body: Uint8Array | string) => ({
  "content-type": "application/json",
  "x-signature": signWith(pair.algorithm, pair.privateKey, Buffer.from(body)).toString("base64"),
  "x-key-id": pair.id,
  "x-algorithm": pair.algorithm,
})

export const deliver = (port: number, pair: Pair, body: Uint8Array | string, headers: object = {}) =>
  send(port, body, { ...headersFor(pair, body), ...headers })

/** A service whose list of keys is the present result of `keys`. */
export const keysFrom =
  (keys: () => ReadonlyArray<object>): Answerer =>
  (_, response) =>
    json(response, { items: keys(), pageInfo: { hasNextPage: false } })

export interface Running {
  readonly port: number
  readonly service: Service
  readonly inbox: Inbox
  readonly counts: Effect.Effect<ReadonlyMap<string, ReadonlyMap<string, number>>>
}

export const database = Layer.provideMerge(Inbox.Default, TestDatabase.layer)

/** Listens until the scope of the test closes. */
export const listening = (
  answer: Answerer,
  options: WebhookOptions & { readonly variables?: Record<string, string> } = {},
): Effect.Effect<Running, never, Scope.Scope | Inbox | Database> =>
  Effect.gen(function* () {
    const service = yield* serve(answer)
    const inbox = yield* Inbox
    const { variables, ...rest } = options
    const running = yield* listen({
      host: "127.0.0.1",
      port: 0,
      // Only what is about them waits for them.
      requestTimeout: Duration.minutes(5),
      grace: Duration.minutes(5),
      ...rest,
    }).pipe(Effect.provide(settingsAt(service.url, variables)))
    return { port: running.port, counts: running.counts, service, inbox }
  }).pipe(Effect.orDie)
