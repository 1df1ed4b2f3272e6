import { readdirSync, readFileSync } from "node:fs"
import { createServer, type IncomingHttpHeaders } from "node:http"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { describe, it } from "vitest"
import { Allowance } from "../../src/Cli/Telemetry/Allowance.ts"
import { headersOf } from "../../src/Cli/Telemetry.ts"
import { accountId, credit, deposit, id, partnership } from "../Sync/Partnership.ts"
import { variablesFor } from "../Sync/Runs.ts"
import { compiled } from "../support/Compiled.ts"
import { listenOn } from "../support/Loopback.ts"
import { type Finished, Tool } from "../support/Program.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

/** The output of `NODE_V8_COVERAGE`: the place of every function, and how often it ran. */
const Range = Schema.Struct({ startOffset: Schema.Number, endOffset: Schema.Number, count: Schema.Number })
const decodeCoverage = Schema.decodeUnknownSync(
  Schema.parseJson(
    Schema.Struct({
      result: Schema.Array(
        Schema.Struct({
          url: Schema.String,
          functions: Schema.Array(Schema.Struct({ ranges: Schema.Array(Range) })),
        }),
      ),
    }),
  ),
)

interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Takes everything, or answers nothing at all. */
const collector = (answers = true) => {
  const received: Array<Received> = []
  const server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text
    })
    request.on("end", () => {
      received.push({ path: request.url ?? "", headers: request.headers, body })
      if (answers) response.writeHead(200, { "content-type": "application/json" }).end("{}")
    })
  })
  return Effect.map(listenOn(server), (port) => ({ url: `http://127.0.0.1:${port}`, received }))
}

/** A service whose one movement names a person. */
const service = Effect.gen(function* () {
  const made = yield* partnership()
  made.held.statement = [credit(1, "5.00", "5.00", id(20))]
  made.held.deposits = [deposit(20, "5.00", { remitterName: "Jane Remitter" })]
  made.held.balance = "5.00"
  return made
})

const syncing = (how: "run" | "start", endpoint: Record<string, string>) =>
  Effect.gen(function* () {
    const { service: at } = yield* service
    const { url } = yield* TestDatabase
    const tool = yield* Tool
    return yield* tool[how](["sync"], { ...variablesFor(at.url), DATABASE_URL: url, ...endpoint })
  })

/** Every value of a key, wherever it stands. */
const all = (value: unknown, key: string): ReadonlyArray<unknown> =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([name, inner]) => [...(name === key ? [inner] : []), ...all(inner, key)])

const documents = (received: ReadonlyArray<Received>, path: string): ReadonlyArray<unknown> =>
  received.filter((one) => one.path === path).map(({ body }): unknown => JSON.parse(body))

const done = ({ code, error }: Finished) => [code, error.includes("Something went wrong")]

layer(Layer.merge(TestDatabase.layer, Tool.layer), {
  excludeTestServices: true,
})("telemetry", (it) => {
  it.scoped(
    "of a sync arrives whole: spans, metrics and log lines, with nothing that is anybody's business",
    () =>
      Effect.gen(function* () {
        const { received, url } = yield* collector()
        const { service: at } = yield* service
        const database = yield* TestDatabase
        const { start } = yield* Tool
        const { code, error } = yield* start(["sync"], {
          ...variablesFor(at.url),
          DATABASE_URL: database.url,
          OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/`,
          OTEL_EXPORTER_OTLP_HEADERS: "x-api-key=collector%20key",
          TIEOUT_LOG_LEVEL: "debug",
        })
        expect(code).toBe(0)
        const names = new Set(documents(received, "/v1/traces").flatMap((one) => all(one, "name")))
        for (const name of [
          "Cli.sync",
          "Sync.run",
          "Sync.readAndProve",
          "Sync.Pages.absorb",
          "Ledger.prepare",
        ])
          expect(names).toContain(name)
        const metrics = documents(received, "/v1/metrics").flatMap((one) => all(one, "name"))
        expect(metrics).toContain("tieout_requests_total")
        expect(metrics).toContain("tieout_runs_total")
        const text = received.map(({ body }) => body).join("\n")
        expect(text).toContain('{"key":"service.name","value":{"stringValue":"tieout"}}')
        expect(text).toContain('{"key":"service.version","value":{"stringValue":"9.8.7"}}')
        expect(text).toContain('{"key":"connection","value":{"stringValue":"default"}}')
        expect(text).toContain('{"key":"run","value":{"intValue":')
        for (const secret of [
          "Jane",
          "sandbox-secret",
          "collector key",
          accountId,
          database.name,
          "stacktrace",
        ])
          expect([secret, text.includes(secret)]).toEqual([secret, false])
        expect(new Set(received.map(({ headers }) => headers["x-api-key"]))).toEqual(
          new Set(["collector key"]),
        )
        expect(error).not.toContain("collector key")
      }),
  )

  it.scoped("of an error has its kind and not its message; the log is sent from info on", () =>
    Effect.gen(function* () {
      const { received, url } = yield* collector()
      const made = yield* service
      made.held.interfere = (path, response) => {
        if (!path.startsWith("/accounts")) return false
        response.writeHead(403, { "content-type": "application/json" }).end('{"message":"Jane may not"}')
        return true
      }
      const database = yield* TestDatabase
      const { run } = yield* Tool
      const { code } = yield* run(["sync"], {
        ...variablesFor(made.service.url),
        DATABASE_URL: database.url,
        OTEL_EXPORTER_OTLP_ENDPOINT: url,
        OTEL_SERVICE_NAME: "books",
      })
      expect(code).toBe(1)
      const text = received.map(({ body }) => body).join("\n")
      expect(text).toContain("PartnerError (Forbidden)")
      expect(text).toContain('{"key":"service.name","value":{"stringValue":"books"}}')
      expect(text).not.toContain("Jane")
    }),
  )

  it.scoped("of a server holds its log up to its end", () =>
    Effect.gen(function* () {
      const { received, url } = yield* collector()
      const { service: at } = yield* service
      const database = yield* TestDatabase
      const { start } = yield* Tool
      const { code } = yield* start(
        ["serve", "--no-webhook", "--status-port", "0"],
        {
          ...variablesFor(at.url),
          DATABASE_URL: database.url,
          TIEOUT_SCHEDULE_NIGHTLY: "null",
          OTEL_EXPORTER_OTLP_ENDPOINT: url,
        },
        (child) =>
          child.stderr?.on("data", (text: string) => {
            if (text.includes("Serving default")) child.kill("SIGTERM")
          }),
      )
      expect(code).toBe(0)
      const lines = documents(received, "/v1/logs").flatMap((one) => all(one, "stringValue"))
      expect(lines).toContain("Serving default; nothing runs by itself.")
      expect(lines).toContain("Stopping.")
    }),
  )

  it.scoped("to a collector that is absent or silent changes no command", () =>
    Effect.gen(function* () {
      const silent = yield* collector(false)
      for (const url of ["http://127.0.0.1:9", silent.url]) {
        const finished = yield* syncing("run", { OTEL_EXPORTER_OTLP_ENDPOINT: url })
        expect([url, ...done(finished)]).toEqual([url, 0, false])
      }
      expect(silent.received.length).toBeGreaterThan(0)
      const mistaken = yield* syncing("run", { OTEL_EXPORTER_OTLP_ENDPOINT: "localhost:4318" })
      expect([mistaken.code, mistaken.error.includes("OTEL_EXPORTER_OTLP_ENDPOINT is no address")]).toEqual([
        0,
        true,
      ])
    }),
  )

  it.scoped("is not loaded unless it is configured", () =>
    Effect.gen(function* () {
      const { url } = yield* collector()
      const { cwd } = yield* Tool
      const bundle = readFileSync(compiled("dist/program.cjs"), "latin1")
      // A text that only the exporter has, in a function that only its loading runs.
      const place = bundle.indexOf("excludeLogSpans:!0")
      expect(place).toBeGreaterThan(0)
      /** Whether a command loads the exporter, by what V8 says that it ran. */
      const loads = (folder: string, variables: Record<string, string>) =>
        Effect.map(syncing("start", { NODE_V8_COVERAGE: join(cwd, folder), ...variables }), () =>
          readdirSync(join(cwd, folder))
            .map((file) => decodeCoverage(readFileSync(join(cwd, folder, file), "utf8")))
            .flatMap(({ result }) => result.filter(({ url: of }) => of.endsWith("program.cjs")))
            .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges.slice(0, 1)))
            .filter(({ endOffset, startOffset }) => startOffset < place && place < endOffset)
            // The file itself is a function, too, and always runs.
            .some(
              ({ count, endOffset, startOffset }) => count > 0 && endOffset - startOffset < bundle.length / 2,
            ),
        )
      expect(yield* loads("asked", { OTEL_EXPORTER_OTLP_ENDPOINT: url })).toBe(true)
      expect(yield* loads("unasked", {})).toBe(false)
    }),
  )
})

describe("telemetry", () => {
  it("reads headers as the specification has them, and leaves out malformed ones", () => {
    expect(headersOf("api-key=a%20b, X-Two = c=d ,bad name=1,none,=x,broken=%zz,line=a%0ab")).toEqual({
      "api-key": "a b",
      "x-two": "c=d",
    })
  })

  it("of a hundred thousand operations keeps a few in every window", () => {
    const allowance = new Allowance({ each: 20, all: 50, window: 5_000 })
    const kept = (from: number) =>
      Array.from({ length: 100_000 }, (_, index) =>
        allowance.admits(`operation ${index % 4}`, from + index / 100),
      ).filter((admitted) => admitted).length
    expect([kept(0), kept(5_000)]).toEqual([50, 50])
  })
})
