/**
 * The private server: health, metrics, the status page and downloads of exports. It listens on loopback by default, answers
 * only requests with a known host name, and on any other address only with the token.
 */
import { createServer } from "node:http"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { type Cause, Clock, Duration, Effect, Either, Option, Redacted } from "effect"
import { errorOf, messageOf } from "../Common/ErrorKind.ts"
import { productVersion } from "../Common/Package.ts"
import type { Database } from "../Database.ts"
import { Settings } from "../Settings.ts"
import { isAway } from "../Sync/Runs/Failures.ts"
import { type CronFields, nextDue } from "./Cron.ts"
import { download } from "./Downloads.ts"
import { bearerOf, isOwnForm, isOwnHost, isToken } from "./Guard.ts"
import { unreadyReason } from "./Health.ts"
import * as Reply from "./HttpReply.ts"
import { keptFor } from "./Kept.ts"
import { login, logout, tooManyGuesses } from "./Login.ts"
import { processFamilies } from "./Metrics/Registry.ts"
import { metricsText } from "./Metrics.ts"
import { Overview } from "./Overview.ts"
import { loginPage, messagePage } from "./Page/Frame.ts"
import { type Doorkeeper, Guesses, hasSession, Sessions } from "./Sessions.ts"
import { addressOf, cannotListen, serving } from "./StatusAddress.ts"
import { statusPage } from "./StatusPage.ts"

/** How long requests in flight may take at the end, milliseconds. */
const graceMillis = 8_000
/** Far more connections than anybody needs, so that silent sockets cannot keep out a health check before they are closed. */
const mostConnections = 4_000

/** How a request was let in. */
interface Admission {
  /** Whether it may take exports, which hold names and references; the page holds none. */
  readonly downloads: boolean
  readonly session: boolean
}

const noDownloads = Reply.plain(
  "Exports need a token, and none is set: set TIEOUT_STATUS_TOKEN, or status.open: true.",
  403,
)

/** The content for authorized requests. */
const content = (
  path: string,
  headOnly: boolean,
  schedule: CronFields | undefined,
  { downloads, session }: Admission,
) =>
  Effect.gen(function* () {
    const { accounting, alerts, connectionNames, schedule: settings } = yield* Settings
    const overview = yield* Overview
    if (path.startsWith("/exports/")) {
      return downloads ? yield* download(path, settings.out, headOnly) : noDownloads
    }
    const now = yield* Clock.currentTimeMillis
    if (path === "/metrics") {
      const snapshot = yield* Effect.orElseSucceed(overview.read, () => Option.none())
      const more = { connections: connectionNames, uptime: process.uptime(), counted: processFamilies() }
      return Reply.metrics(metricsText(Option.getOrUndefined(snapshot), more))
    }
    if (path !== "/") return Reply.page(messagePage("Not here", "There is no such page."), 404)
    const snapshot = yield* overview.read
    if (Option.isNone(snapshot)) {
      return Reply.page(messagePage("No answer", "The database takes too long. Try again in a while."), 503)
    }
    const { timeZone } = accounting
    const next = schedule === undefined ? Option.none() : nextDue(schedule, timeZone, now)
    return Reply.page(
      statusPage(snapshot.value, {
        connections: connectionNames,
        timeZone,
        staleAfter: Duration.toMillis(alerts.staleAfter),
        nextRun: Option.getOrNull(next),
        version: productVersion(),
        downloads,
        session,
      }),
    )
  })

const unauthorized = (accept: string | undefined) =>
  accept?.includes("text/html") === true
    ? Reply.page(loginPage(false), 401)
    : Reply.plain("This needs the token: Authorization: Bearer …", 401, {
        "www-authenticate": 'Bearer realm="tieout"',
      })

/** How the request may be let in, or the answer that refuses it; a wrong token has to wait for that answer. */
const admitted = (request: HttpServerRequest.HttpServerRequest, door: Doorkeeper) =>
  Effect.gen(function* () {
    const { cookies, headers } = request
    if (yield* hasSession(door, cookies, headers["x-forwarded-proto"])) {
      return Either.right<Admission>({ downloads: true, session: true })
    }
    const bearer = bearerOf(headers.authorization)
    if (bearer === undefined) return Either.left(unauthorized(headers.accept))
    if (yield* door.guesses.isFull) return Either.left(tooManyGuesses)
    if (isToken(bearer, door.token)) return Either.right<Admission>({ downloads: true, session: false })
    yield* door.guesses.wait
    return Either.left(unauthorized(headers.accept))
  })

const app = (
  { names, open }: { readonly names: ReadonlyArray<string>; readonly open: boolean },
  door: Doorkeeper | undefined,
  schedule: CronFields | undefined,
  readiness: Effect.Effect<string | undefined, never, Database>,
) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { headers, method } = request
    const [path = "/"] = request.url.split("?")
    const { localAddress } = NodeHttpServerRequest.toIncomingMessage(request).socket
    if (!isOwnHost(headers.host, names, localAddress)) {
      return Reply.plain("This server does not know that host name: add it to status.names.", 421)
    }
    const takesForm = door !== undefined && (path === "/login" || path === "/logout")
    const allowed = takesForm ? ["GET", "HEAD", "POST"] : ["GET", "HEAD"]
    if (!allowed.includes(method)) {
      return Reply.plain("This can only be read.", 405, { allow: allowed.join(", "), connection: "close" })
    }
    if (method === "POST" && !isOwnForm(headers)) {
      return Reply.plain("This form came from another page.", 403, { connection: "close" })
    }
    if (path === "/healthz") return Reply.plain("alive")
    if (path === "/readyz") {
      const reason = yield* readiness
      return reason === undefined ? Reply.plain("ready") : Reply.plain(`not ready: ${reason}`, 503)
    }
    const answer = (admission: Admission) => content(path, method === "HEAD", schedule, admission)
    if (door === undefined) return yield* answer({ downloads: open, session: false })
    if (path === "/login") return method === "POST" ? yield* login(door) : Reply.page(loginPage(false))
    const admission = yield* admitted(request, door)
    if (Either.isLeft(admission)) return admission.left
    return path === "/logout" && method === "POST" ? yield* logout(door) : yield* answer(admission.right)
  })

/** An outage is expected, and an open page asks again and again meanwhile. */
const logged = (cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  isAway(errorOf(cause))
    ? Effect.logWarning(`The status page could not answer: ${messageOf(cause)}`)
    : Effect.logError("The status page could not answer.", cause)

/** Logs every error; the answer says only that there was one. */
const guarded = <E, R>(whole: HttpApp.Default<E, R>): HttpApp.Default<never, R> =>
  Effect.catchAllCause(whole, (cause) =>
    Effect.as(
      logged(cause),
      Reply.page(messagePage("Not now", "The database cannot be read at the moment; the log says why."), 503),
    ),
  )

/** Listens until the scope closes; returns the port. `port` overrides the settings. */
export const startStatusServer = Effect.fn("Serve.statusServer")(function* (
  port: Option.Option<number>,
  schedule: CronFields | undefined,
) {
  const { checkStatusToken, status, statusToken } = yield* Settings
  yield* checkStatusToken
  // An open page lets everybody in, token or not; only a loopback address may be open.
  const token = Option.filter(Option.map(statusToken, Redacted.value), () => !status.open)
  const guesses = new Guesses()
  const door = Option.map(
    token,
    (secret): Doorkeeper => ({ token: secret, sessions: new Sessions(), guesses }),
  )
  yield* Effect.forkScoped(Effect.interruptible(guesses.watch))
  const node = createServer({
    // By default Node looks for slow clients only every 30 seconds.
    connectionsCheckingInterval: 1_000,
    headersTimeout: 3_000,
    requestTimeout: 15_000,
    keepAliveTimeout: 5_000,
  })
  node.maxConnections = mostConnections
  const wanted = Option.getOrElse(port, () => status.port)
  const server = yield* NodeHttpServer.make(() => node, addressOf(status, wanted)).pipe(
    Effect.mapError(({ cause }) => cannotListen(status, wanted, cause)),
  )
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      setTimeout(() => node.closeAllConnections(), graceMillis).unref()
    }),
  )
  const readiness = yield* keptFor("5 seconds", unreadyReason())
  const context = yield* Effect.context<Settings | Overview | Database>()
  yield* server.serve(
    guarded(
      app(
        { names: [status.host, ...status.names], open: status.open },
        Option.getOrUndefined(door),
        schedule,
        readiness,
      ),
    ).pipe(Effect.provide(context)),
  )
  const bound = server.address._tag === "TcpAddress" ? server.address.port : wanted
  yield* serving(bound)
  yield* Effect.logInfo(`The status page is at http://${status.host}:${bound}/`)
  return bound
})
