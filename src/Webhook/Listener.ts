/** The public HTTP server: the webhook path and /healthz, nothing else. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http"
import { type HttpApp, type HttpServer, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import type { ServeError } from "@effect/platform/HttpServerError"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Duration, Effect, Runtime, type Scope } from "effect"
import { type Door, type Doors, doorAt, leave, OpenDoors } from "./Doors.ts"
import type { Receive, Refusal, Verdict } from "./Receiver.ts"
import { Unanswered } from "./Unanswered.ts"

export interface ListenerOptions {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  /** With `{connection}` where its name goes. */
  readonly path: string
  /** The headers, and the whole request, must have come within this. */
  readonly requestTimeout: Duration.Duration
  /** What is in flight when it stops has this long to end. */
  readonly grace: Duration.Duration
  readonly maxConnections: number
}

export const defaultOptions: Omit<ListenerOptions, "host" | "port" | "path"> = {
  // Together with the second between two looks at the clock this stays below the ten seconds that `docs/reliability.md` allows.
  requestTimeout: Duration.seconds(7),
  grace: Duration.seconds(8),
  maxConnections: 10_000,
}

/** Bytes, of ten thousand connections at once; a delivery and a proxy have one or two thousand. */
const largestHeaders = 16 * 1024

const makeServer = ({ maxConnections, requestTimeout }: ListenerOptions): Server => {
  const within = Duration.toMillis(requestTimeout)
  const server = createServer({
    headersTimeout: within,
    requestTimeout: within,
    // How often Node checks its timeouts; by default every 30 seconds.
    connectionsCheckingInterval: Math.min(1_000, Math.max(50, within / 4)),
    keepAliveTimeout: 60_000,
    maxHeaderSize: largestHeaders,
  })
  server.maxConnections = maxConnections
  return server
}

/**
 * Stops accepting, lets requests in flight end, then cuts the remaining connections, such as those that never sent anything.
 * Where another listener has taken the door over, it only waits for its own requests.
 */
const stop = (
  doors: Doors | null,
  door: Door,
  own: RequestListener,
  unanswered: Unanswered,
  grace: Duration.Duration,
) =>
  Effect.gen(function* () {
    const until = performance.now() + Duration.toMillis(grace)
    const last = door.answer === own
    if (last) {
      leave(doors, door)
      door.server.close()
    }
    while (unanswered.count > 0 && performance.now() < until) yield* Effect.sleep("20 millis")
    if (!last) return
    door.server.closeAllConnections()
    yield* door.close
  })

const json = (status: number, body: object, headers: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.text(JSON.stringify(body), { status, headers, contentType: "application/json" })

const healthy = json(200, { status: "ok" })
const notFound = json(404, { error: "not found" })
const onlyPost = json(405, { error: "method not allowed" }, { allow: "POST" })
const onlyGet = json(405, { error: "method not allowed" }, { allow: "GET, HEAD" })

/** Everything but deliveries. */
const app = (isWebhook: (url: string) => boolean): HttpApp.Default =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ method, url }) => {
    if (url === "/healthz" || url.startsWith("/healthz?")) {
      return method === "GET" || method === "HEAD" ? healthy : onlyGet
    }
    return isWebhook(url) ? onlyPost : notFound
  })

const words: Readonly<Record<Refusal["status"], string>> = {
  400: "bad request",
  401: "unauthorized",
  413: "content too large",
  415: "unsupported media type",
  503: "try again later",
}

const answer = (
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void => {
  const length = Buffer.byteLength(text)
  response.writeHead(status, { "content-type": "application/json", "content-length": length, ...headers })
  response.end(text)
}

const received = JSON.stringify({ received: true })

const refuse = (response: ServerResponse, { retryAfter, status }: Refusal): void =>
  answer(response, status, JSON.stringify({ error: words[status] }), {
    ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
    // Does not wait for the rest of a body that is not wanted.
    ...(status === 413 ? { connection: "close" } : {}),
  })

/** Finds the receiver that a path belongs to. */
const router = (template: string, receivers: ReadonlyMap<string, Receive>) => {
  const paths = new Map(
    [...receivers].map(([name, receive]) => [template.replaceAll("{connection}", name), { name, receive }]),
  )
  return (url: string) => {
    const query = url.indexOf("?")
    return paths.get(query < 0 ? url : url.slice(0, query))
  }
}

export interface Listening {
  readonly address: HttpServer.Address
  readonly port: number
}

/** Called for every request before it is answered, for counts and the log. */
export type OnOutcome = (connection: string, outcome: Verdict | Refusal) => void

/** Goes straight from the server's request to its response: the layers of an HTTP app would be a third of a delivery's cost. */
const deliver =
  (run: (effect: Effect.Effect<void>) => void, onOutcome: OnOutcome) =>
  async (
    name: string,
    receive: Receive,
    message: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    try {
      const outcome = await receive(message)
      onOutcome(name, outcome)
      if (typeof outcome === "string") answer(response, 200, received)
      else refuse(response, outcome)
    } catch (defect) {
      run(Effect.logError("A delivery could not be handled", defect))
      response.destroy()
    }
  }

/** Listens until the scope closes; then it stops as `stop` says. */
export const listen = (
  options: ListenerOptions,
  receivers: ReadonlyMap<string, Receive>,
  onOutcome: OnOutcome,
): Effect.Effect<Listening, ServeError, Scope.Scope> =>
  Effect.gen(function* () {
    const doors = yield* OpenDoors
    const unanswered = new Unanswered()
    const door = yield* doorAt(doors, options, () => makeServer(options))
    const find = router(options.path, receivers)
    const others = yield* NodeHttpServer.makeHandler(app((url) => find(url) !== undefined))
    const take = deliver(Runtime.runFork(yield* Effect.runtime<never>()), onOutcome)
    const answering: RequestListener = (message, response) => {
      if (!unanswered.take(message, response)) return
      const found = message.method === "POST" ? find(message.url ?? "/") : undefined
      if (found === undefined) return others(message, response)
      void take(found.name, found.receive, message, response)
    }
    door.answer = answering
    yield* Effect.addFinalizer(() => stop(doors, door, answering, unanswered, options.grace))
    const { address } = door
    return { address, port: address._tag === "TcpAddress" ? address.port : 0 }
  })
