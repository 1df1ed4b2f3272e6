import { spawn } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect, Layer, Logger, LogLevel, TestClock } from "effect"
import { describe } from "vitest"
import { type Alert, Alerts } from "../../src/Serve/Alerts.ts"
import { Settings } from "../../src/Settings.ts"
import { commonVariables, compiled } from "../support/Compiled.ts"
import { listenOn } from "../support/Loopback.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"

const alert: Alert = { kind: "failure", text: "It failed.", connection: "default", counts: { tries: 1 } }

/** Collects what is posted; refuses so many requests first, or holds the answers back until they are released. */
const receiver = (refusals: number, silent = false) => {
  const bodies: Array<string> = []
  const held: Array<() => void> = []
  let holds = silent
  let left = refusals
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk) => {
      body += String(chunk)
    })
    request.on("end", () => {
      left -= 1
      if (left < 0) bodies.push(body)
      const status = left < 0 ? 204 : 503
      const reply = () => void response.writeHead(status).end()
      if (holds) held.push(reply)
      else reply()
    })
  })
  /** Releases the answers that are held back, and answers at once from now on. */
  const answer = () => {
    holds = false
    for (const reply of held.splice(0)) reply()
  }
  return Effect.map(listenOn(server), (port) => ({ url: `http://127.0.0.1:${port}/hook`, bodies, answer }))
}

const alerting = (variables: Record<string, string>) =>
  Layer.provide(Alerts.Default, Settings.from({ variables }))

const until = (done: () => boolean) => Effect.repeat(Effect.sleep("20 millis"), { until: done })

describe("alerts", () => {
  it.scopedLive("are posted as JSON, and posted again where they are refused", () =>
    Effect.gen(function* () {
      const { bodies, url } = yield* receiver(1)
      yield* Effect.gen(function* () {
        yield* (yield* Alerts).raise(alert)
        yield* until(() => bodies.length > 0)
      }).pipe(Effect.provide(alerting({ TIEOUT_ALERTS_WEBHOOK: url })))
      expect(JSON.parse(bodies[0] ?? "")).toEqual({ product: "tieout", at: expect.any(String), ...alert })
    }).pipe(Logger.withMinimumLogLevel(LogLevel.None)),
  )

  it.scopedLive("say when they were raised, however long they wait behind another", () =>
    Effect.gen(function* () {
      const { answer, bodies, url } = yield* receiver(0, true)
      yield* Effect.gen(function* () {
        const { raise } = yield* Alerts
        yield* raise(alert)
        yield* raise(alert)
        yield* until(() => bodies.length === 1)
        const meanwhile = new Date().toISOString()
        yield* Effect.sleep("5 millis")
        answer()
        yield* until(() => bodies.length === 2)
        expect(JSON.parse(bodies[1] ?? "").at <= meanwhile).toBe(true)
      }).pipe(Effect.provide(alerting({ TIEOUT_ALERTS_WEBHOOK: url })))
    }).pipe(Logger.withMinimumLogLevel(LogLevel.None)),
  )

  it.scopedLive("are taken once they are answered, though the answer itself never ends", () =>
    Effect.gen(function* () {
      const bodies: Array<string> = []
      const server = createServer((request, response) => {
        let body = ""
        request.on("data", (chunk) => {
          body += String(chunk)
        })
        request.on("end", () => {
          bodies.push(body)
          response.writeHead(200).write("{")
        })
      })
      const url = `http://127.0.0.1:${yield* listenOn(server)}/hook`
      yield* Effect.gen(function* () {
        const { raise } = yield* Alerts
        yield* raise(alert)
        yield* raise({ ...alert, text: "It failed again." })
        yield* until(() => bodies.length === 2)
      }).pipe(Effect.provide(alerting({ TIEOUT_ALERTS_WEBHOOK: url })))
      expect(bodies.map((body) => JSON.parse(body).text)).toEqual(["It failed.", "It failed again."])
    }).pipe(Logger.withMinimumLogLevel(LogLevel.None)),
  )

  it.scopedLive("go through the proxy of the settings, with its password", () =>
    Effect.gen(function* () {
      const asked: Array<unknown> = []
      const proxy = createServer().on("connect", ({ headers, url }, socket) => {
        asked.push([url, headers["proxy-authorization"]])
        socket.end("HTTP/1.1 503 Service Unavailable\r\n\r\n")
      })
      const port = yield* listenOn(proxy)
      yield* Effect.gen(function* () {
        yield* (yield* Alerts).raise(alert)
        yield* until(() => asked.length > 0)
      }).pipe(
        Effect.provide(
          alerting({
            TIEOUT_ALERTS_WEBHOOK: "https://hooks.example/T0P",
            HTTPS_PROXY: `http://jane:s3cret@127.0.0.1:${port}`,
          }),
        ),
      )
      expect(asked[0]).toEqual([
        "hooks.example:443",
        `Basic ${Buffer.from("jane:s3cret").toString("base64")}`,
      ])
    }).pipe(Logger.withMinimumLogLevel(LogLevel.None)),
  )

  it.scopedLive("reach a program on its standard input, without a shell and without credentials", () =>
    Effect.gen(function* () {
      const file = join(temporaryFolder(), "out; touch x")
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          process.env.TIEOUT_CLIENT_SECRET = "hunter2"
        }),
        () => Effect.sync(() => delete process.env.TIEOUT_CLIENT_SECRET),
      )
      const script = `const fs=require("fs");fs.writeFileSync(process.argv[1],fs.readFileSync(0,"utf8")+(process.env.TIEOUT_CLIENT_SECRET??"none"))`
      const command = JSON.stringify([process.execPath, "-e", script, file])
      const read = () => {
        try {
          return readFileSync(file, "utf8")
        } catch {
          return ""
        }
      }
      yield* Effect.gen(function* () {
        yield* (yield* Alerts).raise(alert)
        yield* until(() => read() !== "")
      }).pipe(Effect.provide(alerting({ TIEOUT_ALERTS_COMMAND: command })))
      const [document = "", secret] = read().split("\n")
      expect([JSON.parse(document).text, secret]).toEqual(["It failed.", "none"])
    }).pipe(Logger.withMinimumLogLevel(LogLevel.None)),
  )

  it.scopedLive(
    "that were not delivered when it stops are named in the log, the one under way among them",
    () =>
      Effect.gen(function* () {
        const lines: Array<string> = []
        const logger = Logger.make(({ message }) => void lines.push(String(message)))
        const { url } = yield* receiver(0, true)
        yield* Effect.gen(function* () {
          const { raise } = yield* Alerts
          yield* raise(alert)
          yield* raise({ ...alert, kind: "findings" })
          yield* Effect.sleep("50 millis")
        }).pipe(
          Effect.provide(
            Layer.provideMerge(
              alerting({ TIEOUT_ALERTS_WEBHOOK: url }),
              Logger.replace(Logger.defaultLogger, logger),
            ),
          ),
        )
        expect(lines.filter((line) => line.includes("not delivered"))).toEqual([
          "An alert (failure) was not delivered: Tieout stopped before.",
          "An alert (findings) was not delivered: Tieout stopped before.",
        ])
      }),
  )

  it.scoped.skipIf(process.platform === "win32")(
    "go on where the system refuses to start the program at all",
    () => {
      const lines: Array<string> = []
      const log = Logger.make(({ message }) => void lines.push(String(message)))
      // What is below a file: the system says so by an error that Node throws.
      const refused = join(import.meta.filename, "notify")
      const TIEOUT_ALERTS_COMMAND = JSON.stringify([refused])
      return Effect.gen(function* () {
        const { raise } = yield* Alerts
        yield* raise(alert)
        yield* raise({ ...alert, kind: "staleness" })
        const undelivered = () => lines.filter((line) => line.includes("was not delivered"))
        yield* Effect.repeat(TestClock.adjust("5 seconds"), { until: () => undelivered().length === 2 })
        expect(undelivered()[0]).toContain("ENOTDIR")
      }).pipe(
        Effect.provide(
          Layer.provideMerge(alerting({ TIEOUT_ALERTS_COMMAND }), Logger.replace(Logger.defaultLogger, log)),
        ),
      )
    },
  )

  it.scopedLive.skipIf(process.platform === "win32")(
    "go on where no file could be opened for a moment, so that the program got no input",
    () =>
      Effect.gen(function* () {
        const file = join(temporaryFolder(), "alerts")
        const keeps = `const fs=require("fs");fs.appendFileSync(process.argv[1],fs.readFileSync(0))`
        const raising = [process.execPath, compiled("test/support/alertProcess.mjs")]
        yield* Effect.acquireRelease(
          Effect.sync(() =>
            spawn("sh", ["-c", 'ulimit -n 64; exec "$0" "$1"', ...raising], {
              env: {
                ...commonVariables(),
                TIEOUT_ALERTS_COMMAND: JSON.stringify([process.execPath, "-e", keeps, file]),
              },
              stdio: ["ignore", "ignore", "inherit"],
            }),
          ),
          (child) => Effect.sync(() => child.kill("SIGKILL")),
        )
        const kept = () => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [])
        yield* until(() => kept().length === 2)
        expect(kept().map((line) => JSON.parse(line).text)).toEqual(["the first", "the second"])
      }),
  )

  it.scopedLive("never hold up the code that raises them, and leave out kinds that are not wanted", () =>
    Effect.gen(function* () {
      const { answer, bodies, url } = yield* receiver(0, true)
      yield* Effect.gen(function* () {
        const { raise } = yield* Alerts
        yield* raise({ ...alert, kind: "findings" })
        yield* until(() => bodies.length > 0)
        // Nobody has answered that one yet, and more are raised than may wait.
        for (let index = 0; index < 300; index++) {
          yield* raise({ ...alert, kind: "staleness" })
          yield* raise({ ...alert, kind: "findings" })
        }
        answer()
        yield* until(() => bodies.length > 1)
      }).pipe(Effect.provide(alerting({ TIEOUT_ALERTS_WEBHOOK: url, TIEOUT_ALERTS_ON: "findings" })))
      expect(new Set(bodies.map((body) => JSON.parse(body).kind))).toEqual(new Set(["findings"]))
    }).pipe(Logger.withMinimumLogLevel(LogLevel.None)),
  )
})
