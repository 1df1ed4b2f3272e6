import { mkdirSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { json, serve } from "../Partner/Service.ts"
import { rows } from "../Sync/Runs.ts"
import { freePort } from "../support/Loopback.ts"
import { running } from "../support/Program.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { pairOf, recordOf } from "../Webhook/Keys.ts"
import { deliver, eventOf, keysFrom } from "../Webhook/Listening.ts"

const pair = pairOf("ES256")
const keys = keysFrom(() => [recordOf(pair)])

/** The program as `tieout serve`, with the settings in `cwd`, for the service at `base`. */
const serving = (
  cwd: string,
  base: string,
  variables: Record<string, string> = { TIEOUT_CLIENT_SECRET: "secret" },
  ...options: ReadonlyArray<string>
) =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase
    const { child, ended, log } = yield* running(cwd, ["serve", ...options], {
      DATABASE_URL: url,
      TIEOUT_BASE_URL: base,
      TIEOUT_CLIENT_ID: "client",
      TIEOUT_SCOPE: "scope",
      ...variables,
    })
    /** Waits until the log has the text so often; dies with the log where the program ends before. */
    const until = (text: string, times = 1) =>
      Effect.repeat(Effect.sleep("20 millis"), { until: () => log().split(text).length > times }).pipe(
        Effect.raceFirst(
          Effect.zipRight(
            Effect.promise(() => ended),
            Effect.suspend(() => Effect.dieMessage(log())),
          ),
        ),
      )
    yield* until("Serving default")
    return { child, ended, log, until }
  })

it.scopedLive.skipIf(process.platform === "win32")(
  "SIGHUP reads settings and secrets again, loses no delivery, and changes nothing where they do not hold",
  () =>
    Effect.gen(function* () {
      const cwd = temporaryFolder()
      const settings = join(cwd, "config", "tieout.yaml")
      const secret = join(cwd, "secret")
      const port = yield* freePort
      const write = (stale: string, more = "") => {
        writeFileSync(
          settings,
          `webhook: { host: 127.0.0.1, port: ${port} }\nschedule: { nightly: null }\nalerts: { staleAfter: ${stale} }\n${more}`,
        )
      }
      mkdirSync(join(cwd, "config"))
      write("26 hours")
      writeFileSync(secret, "first-secret")
      const service = yield* serve((call, response, index) =>
        call.path.includes("/accounts")
          ? json(response, { items: [], pageInfo: { hasNextPage: false } })
          : keys(call, response, index),
      )
      const { child, ended, log, until } = yield* serving(
        cwd,
        service.url,
        { TIEOUT_CLIENT_SECRET_FILE: secret },
        "--status-port",
        "0",
      )

      let sent = 0
      const statuses: Array<number> = []
      const sender = yield* Effect.forkScoped(
        Effect.forever(
          Effect.suspend(() => deliver(port, pair, eventOf(1_000 + ++sent))).pipe(
            Effect.tap(({ status }) => Effect.sync(() => statuses.push(status))),
          ),
        ),
      )
      const hangUp = Effect.sync(() => child.kill("SIGHUP"))
      const again = "The settings and secrets have been read again."

      writeFileSync(secret, "second-secret")
      yield* Effect.zipRight(hangUp, until(again))
      write("3 hours")
      yield* Effect.zipRight(hangUp, until(again, 2))

      write("3 hours", "frobs: 1\n")
      yield* Effect.zipRight(hangUp, until("were not read again"))
      expect(log()).toContain("frobs: unknown key")
      write("3 hours")
      writeFileSync(secret, "")
      yield* Effect.zipRight(hangUp, until("were not read again", 2))
      expect(log()).toContain("TIEOUT_CLIENT_SECRET_FILE")
      expect(child.exitCode).toBe(null)

      const count = statuses.length
      yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => statuses.length > count + 20 })
      yield* Fiber.interrupt(sender)
      expect(new Set(statuses)).toEqual(new Set([200]))
      const secrets = service.calls
        .filter(({ path }) => path === "/oauth/token")
        .map(({ body }) => new URLSearchParams(body).get("client_secret"))
      expect(new Set(secrets)).toEqual(new Set(["first-secret", "second-secret"]))
      expect(secrets.at(-1)).toBe("second-secret")
      expect(yield* rows("select count(*) > 0 as some from webhook.inbox")).toEqual([{ some: true }])

      child.kill("SIGTERM")
      expect(yield* Effect.promise(() => ended)).toBe(0)
    }).pipe(Effect.provide(TestDatabase.layer)),
)

it.scopedLive.skipIf(process.platform === "win32")(
  "SIGHUP changes nothing where the status page cannot be at its new address",
  () =>
    Effect.gen(function* () {
      const cwd = temporaryFolder()
      const [port, events] = [yield* freePort, yield* freePort]
      const write = (status: string, webhook = events) =>
        writeFileSync(
          join(cwd, "config", "tieout.yaml"),
          `webhook: { host: 127.0.0.1, port: ${webhook} }\nschedule: { nightly: null }\nstatus: ${status}\n`,
        )
      mkdirSync(join(cwd, "config"))
      write(`{ port: ${port} }`)
      const service = yield* serve(keys)
      const { child, ended, until } = yield* serving(cwd, service.url)
      const health = Effect.promise(async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).text())
      const hangUp = Effect.sync(() => child.kill("SIGHUP"))

      // The service's own port, which is taken.
      write(`{ port: ${new URL(service.url).port} }`)
      yield* Effect.zipRight(hangUp, until("could not be used; the old ones stay"))
      expect(yield* health).toBe("alive\n")
      expect((yield* deliver(events, pair, eventOf(1))).status).toBe(200)

      // One that the listener for events has as well, where both are to move.
      const both = yield* freePort
      write(`{ port: ${both} }`, both)
      yield* Effect.zipRight(hangUp, until("could not be used; the old ones stay", 2))
      expect(yield* health).toBe("alive\n")
      expect((yield* deliver(events, pair, eventOf(2))).status).toBe(200)

      write(`{ port: ${port}, names: [books.example.com] }`)
      yield* Effect.zipRight(hangUp, until("The settings and secrets have been read again."))
      expect(yield* health).toBe("alive\n")
      child.kill("SIGTERM")
      expect(yield* Effect.promise(() => ended)).toBe(0)
    }).pipe(Effect.provide(TestDatabase.layer)),
)

it.scopedLive.skipIf(process.platform === "win32")(
  "SIGHUP changes nothing while the settings file that was read is away, or empty",
  () =>
    Effect.gen(function* () {
      const cwd = temporaryFolder()
      const settings = join(cwd, "config", "tieout.yaml")
      const [port, events] = [yield* freePort, yield* freePort]
      mkdirSync(join(cwd, "config"))
      writeFileSync(
        settings,
        `webhook: { host: 127.0.0.1, port: ${events} }\nschedule: { nightly: null }\nstatus: { port: ${port} }\n`,
      )
      const service = yield* serve(keys)
      const { child, ended, log, until } = yield* serving(cwd, service.url)
      const health = Effect.promise(async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).text())

      renameSync(settings, `${settings}.old`)
      child.kill("SIGHUP")
      yield* Effect.race(until("were not read again"), until("have been read again"))
      const why = "there is no such file, or nothing in it, and the settings came from it"
      expect(log()).toContain(why)
      expect(yield* health).toBe("alive\n")
      expect((yield* deliver(events, pair, eventOf(1))).status).toBe(200)

      writeFileSync(settings, "# saved while the disk was full\n")
      child.kill("SIGHUP")
      yield* Effect.race(until(why, 2), until("have been read again"))
      expect((yield* deliver(events, pair, eventOf(2))).status).toBe(200)

      renameSync(`${settings}.old`, settings)
      child.kill("SIGHUP")
      yield* until("have been read again")
      expect(yield* health).toBe("alive\n")
      child.kill("SIGTERM")
      expect(yield* Effect.promise(() => ended)).toBe(0)
    }).pipe(Effect.provide(TestDatabase.layer)),
)
