/**
 * Sends alerts: by POST to an address, by starting a program, or both. An alert says what happened and what to do, with counts
 * but without amounts, names or anything the service answered. Sending never delays or fails the work.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { Clock, Data, Effect, Either, Option, Queue, Redacted, Schedule } from "effect"
import { Agent, type Dispatcher, Pool, ProxyAgent, request } from "undici"
import { endingTunnels } from "../Common/Proxy.ts"
import type { Occasion } from "../Settings/Servers.ts"
import { Settings } from "../Settings.ts"

export interface Alert {
  readonly kind: Occasion
  /** One sentence for a person. */
  readonly text: string
  /** Null if it is about all connections. */
  readonly connection: string | null
  readonly counts: Readonly<Record<string, number>>
}

/** An alert, and what is done where nobody got it. */
interface Waiting {
  readonly alert: Alert
  /** When it was raised, in UTC: it may wait for minutes behind others that nobody takes. */
  readonly at: string
  readonly undelivered: Effect.Effect<void>
}

class AlertFailed extends Data.TaggedError("AlertFailed")<{ readonly message: string }> {}

/** The most alerts in the queue; further ones are dropped, and the log says so. */
const mostWaiting = 100
const attemptWithin = "10 seconds"
const tries = Schedule.intersect(Schedule.exponential("1 second", 4), Schedule.recurs(3))

const failed = (what: string) => (cause: unknown) =>
  new AlertFailed({ message: `${what}: ${cause instanceof Error ? cause.message : String(cause)}` })

/** Does not follow redirects: the alert would go to an address that nobody configured. */
const post = (address: string, body: string, dispatcher: Dispatcher) =>
  Effect.tryPromise({
    try: async (signal) => {
      const answer = await request(address, {
        method: "POST",
        body,
        signal,
        dispatcher,
        headers: { "content-type": "application/json", "user-agent": "tieout" },
      })
      // The status says all, and an answer may never end: waiting for that would send the alert again.
      answer.body.on("error", () => undefined).destroy()
      return answer.statusCode
    },
    // The message may hold the address, which may be a secret.
    catch: (cause) =>
      new AlertFailed({
        message: `alerts.webhook cannot be reached (${cause instanceof Error ? cause.name : "unknown"})`,
      }),
  }).pipe(
    Effect.filterOrFail(
      (status) => status >= 200 && status < 300,
      (status) => new AlertFailed({ message: `alerts.webhook answered ${status}` }),
    ),
    Effect.timeoutFail({
      duration: attemptWithin,
      onTimeout: () => new AlertFailed({ message: `alerts.webhook did not answer within ${attemptWithin}` }),
    }),
  )

/** Through the proxy of the environment, where it names one for the address. */
const dispatcherFor = (proxy: Settings["alertsProxy"]): Dispatcher =>
  Option.match(proxy, {
    onNone: () => new Agent(),
    onSome: (uri) =>
      new ProxyAgent({
        uri: Redacted.value(uri),
        factory: (origin, options: Pool.Options) => new Pool(origin, endingTunnels(options)),
      }),
  })

/** The environment for the program, without our credentials. */
const withoutSecrets = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        !/^DATABASE_URL(?:_FILE)?$/.test(name) &&
        !name.startsWith("TIEOUT_") &&
        !name.startsWith("OTEL_EXPORTER_OTLP_"),
    ),
  )

const start = ([program = "", ...args]: ReadonlyArray<string>, body: string) =>
  Effect.async<void, AlertFailed>((resume) => {
    const fail = (text: string) => resume(new AlertFailed({ message: `alerts.command ${program}: ${text}` }))
    const unstarted = (cause: unknown) => fail(failed("it did not start")(cause).message)
    const started = Either.try(
      (): ChildProcess =>
        spawn(program, args, { shell: false, stdio: ["pipe", "ignore", "ignore"], env: withoutSecrets() }),
    )
    // Node throws some of the system's errors, such as that there is no memory for another process, and emits others.
    if (Either.isLeft(started)) return unstarted(started.left)
    const child = started.right
    child.once("error", unstarted)
    child.once("close", (code, signal) =>
      code === 0 ? resume(Effect.void) : fail(`it ended with ${code ?? signal ?? "nothing"}`),
    )
    // A program need not read its input, and one for which no file could be opened has none.
    child.stdin?.on("error", () => undefined)
    child.stdin?.end(body)
    return Effect.sync(() => child.kill("SIGKILL"))
  }).pipe(
    Effect.timeoutFail({
      duration: attemptWithin,
      onTimeout: () =>
        new AlertFailed({ message: `alerts.command ${program}: it did not end within ${attemptWithin}` }),
    }),
  )

export class Alerts extends Effect.Service<Alerts>()("tieout/Serve/Alerts", {
  scoped: Effect.gen(function* () {
    const { alerts, alertsProxy } = yield* Settings
    const { command, on, webhook } = alerts
    const dispatcher = yield* Effect.acquireRelease(
      Effect.sync(() => dispatcherFor(alertsProxy)),
      (one) => Effect.promise(() => one.destroy()),
    )
    const waiting = yield* Queue.dropping<Waiting>(mostWaiting)
    const stopped = ({ alert }: Waiting) =>
      Effect.logError(`An alert (${alert.kind}) was not delivered: Tieout stopped before.`)
    yield* Effect.addFinalizer(() =>
      Effect.flatMap(Queue.takeAll(waiting), (left) => Effect.forEach(left, stopped, { discard: true })),
    )

    const deliver = Effect.fn("Alerts.deliver")(function* ({ alert, at, undelivered }: Waiting) {
      const body = `${JSON.stringify({ product: "tieout", at, ...alert })}\n`
      const ways = [
        ...(webhook === null ? [] : [post(webhook, body, dispatcher)]),
        ...(command === null ? [] : [start(command, body)]),
      ]
      const delivered = yield* Effect.forEach(
        ways,
        (way) =>
          Effect.retry(way, tries).pipe(
            Effect.as(true),
            Effect.catchAll(({ message }) =>
              Effect.as(Effect.logError(`An alert (${alert.kind}) was not delivered: ${message}.`), false),
            ),
          ),
        { concurrency: "unbounded" },
      )
      if (!delivered.includes(true)) yield* undelivered
    })

    yield* Effect.forkScoped(
      Effect.forever(
        Effect.flatMap(Queue.take(waiting), (next) => Effect.onInterrupt(deliver(next), () => stopped(next))),
      ),
    )

    /** Returns at once. Ignores kinds that the settings leave out. `undelivered` runs where nobody took it in the end. */
    const raise = Effect.fn("Alerts.raise")(function* (
      alert: Alert,
      undelivered: Effect.Effect<void> = Effect.void,
    ) {
      if (!on.includes(alert.kind)) return
      yield* Effect.logWarning(`Alert (${alert.kind}): ${alert.text}`)
      if (webhook === null && command === null) return
      const at = new Date(yield* Clock.currentTimeMillis).toISOString()
      if (yield* Queue.offer(waiting, { alert, at, undelivered })) return
      yield* Effect.logError("Too many alerts wait: one was dropped.")
      yield* undelivered
    })

    return { raise }
  }),
}) {}
