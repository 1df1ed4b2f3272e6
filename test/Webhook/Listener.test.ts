import { request } from "node:http"
import { connect } from "node:net"
import { expect, layer } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber, Option, Scope } from "effect"
import fc from "fast-check"
import { Database } from "../../src/Database.ts"
import { uuid } from "../Partner/Service.ts"
import { pairOf, recordOf } from "./Keys.ts"
import { database, deliver, eventOf, headersFor, keysFrom, listening, secretText, send } from "./Listening.ts"

const pair = pairOf("EdDSA")
const withKey = keysFrom(() => [recordOf(pair)])
const all = { connection: Option.none(), state: Option.none(), limit: 5_000 }
const rowsOf = (id: string) =>
  Effect.flatMap(Database, ({ query }) =>
    query(
      "Test.rows",
      (sql) => sql<Array<{ state: string; error: string | null; body: Buffer; conflict: boolean }>>`
      select state, error, body, conflict from webhook.inbox where event_id = ${id} or body = ${id}::bytea`,
    ),
  )
const count = Effect.flatMap(Database, ({ query }) =>
  Effect.map(
    query("Test.count", (sql) => sql<[{ n: number }]>`select count(*)::int as n from webhook.inbox`),
    ([row]) => row.n,
  ),
)

/** The answer on a raw connection until it is closed. */
const raw = (port: number, text: string, connected: () => void = () => {}) =>
  Effect.async<string>((resume) => {
    let got = ""
    const socket = connect(port, "127.0.0.1", () => {
      if (text !== "") socket.write(text)
      connected()
    })
    socket.on("data", (chunk) => {
      got += chunk.toString()
    })
    socket.on("error", () => undefined)
    socket.on("close", () => resume(Effect.succeed(got)))
    return Effect.sync(() => socket.destroy())
  })

layer(database, { excludeTestServices: true })("the listener", (it) => {
  it.scoped("[W1] serves its path and /healthz, nothing else", () =>
    Effect.gen(function* () {
      const { port, service } = yield* listening(withKey)
      const status = (method: string, path: string, headers = {}) =>
        Effect.map(send(port, "", headers, { method, path }), (reply) => [reply.status, reply.headers.allow])
      expect(yield* status("GET", "/healthz")).toEqual([200, undefined])
      expect(yield* status("POST", "/healthz")).toEqual([405, "GET, HEAD"])
      for (const path of [
        "/",
        "/webhooks",
        "/webhooks/",
        "/webhooks/other",
        "/webhooks/default/",
        "/metrics",
        "/webhooks/%64efault",
        "//webhooks/default",
      ])
        expect([path, ...(yield* status("POST", path))]).toEqual([path, 404, undefined])
      for (const method of ["GET", "PUT", "DELETE", "OPTIONS", "HEAD"])
        expect([method, ...(yield* status(method, "/webhooks/default"))]).toEqual([method, 405, "POST"])
      expect(service.calls).toEqual([])
    }),
  )

  it.scoped("[W1] wrong content type or any Content-Encoding 415", () =>
    Effect.gen(function* () {
      const { port } = yield* listening(withKey)
      for (const headers of [
        { "content-type": "text/plain" },
        { "content-type": "application/jsonx" },
        { "content-type": ["application/json", "application/json"] },
        { "content-encoding": "gzip" },
        { "content-encoding": "identity" },
      ])
        expect((yield* deliver(port, pair, eventOf(1), headers)).status).toBe(415)
      expect(
        (yield* deliver(port, pair, eventOf(1), { "content-type": "application/json;charset=utf-8" })).status,
      ).toBe(200)
    }),
  )

  it.scoped("[W1] over 64 KiB 413, declared or streamed, with flat memory", () =>
    Effect.gen(function* () {
      const { port } = yield* listening(withKey)
      const fits = JSON.stringify({ id: uuid(7), type: "x", pad: "" })
      const exact = fits.replace(`"pad":""`, `"pad":"${"p".repeat(65_536 - fits.length)}"`)
      expect(exact.length).toBe(65_536)
      expect((yield* deliver(port, pair, exact)).status).toBe(200)
      expect((yield* deliver(port, pair, `${exact} `)).status).toBe(413)
      const before = process.memoryUsage().rss
      const streamed = yield* Effect.async<number>((resume) => {
        const headers = { ...headersFor(pair, "x"), "transfer-encoding": "chunked" }
        const sent = request(
          { host: "127.0.0.1", port, path: "/webhooks/default", method: "POST", headers },
          (response) => {
            response.resume()
            resume(Effect.succeed(response.statusCode ?? 0))
          },
        )
        let left = 2_000
        const chunk = Buffer.alloc(65_536)
        const more = () => {
          while (left-- > 0) if (!sent.write(chunk)) return void sent.once("drain", more)
          sent.end()
        }
        sent.on("error", () => resume(Effect.succeed(-1)))
        more()
      })
      expect(streamed).toBe(413)
      expect(process.memoryUsage().rss - before).toBeLessThan(64e6)
    }),
  )

  it.scoped("[W1] over 16 KiB of headers 431, before they have come to their end", () =>
    Effect.gen(function* () {
      const { port } = yield* listening(withKey)
      const begun = "POST /webhooks/default HTTP/1.1\r\nhost: x\r\n"
      expect(yield* raw(port, `${begun}x-more: ${"v".repeat(17_000)}`)).toContain(" 431 ")
      const most = { ...headersFor(pair, eventOf(43)), "x-more": "v".repeat(12_000) }
      expect((yield* send(port, eventOf(43), most)).status).toBe(200)
    }),
  )

  it.scoped("[W1] slow headers or body 408; 500 stalled sockets do not stop a good delivery", () =>
    Effect.gen(function* () {
      const patient = yield* listening(withKey, { requestTimeout: Duration.hours(1) })
      const { port } = yield* listening(withKey, { requestTimeout: Duration.seconds(1) })
      const head = "POST /webhooks/default HTTP/1.1\r\nHost: x\r\n"
      const signed = Object.entries(headersFor(pair, "{}")).map(([name, value]) => `${name}: ${value}\r\n`)
      const slow = [head, `${head}content-length: 5\r\n${signed.join("")}\r\n{`]
      const texts = Array.from({ length: 500 }, (_, index) => slow[index % 2] ?? "")
      let connected = 0
      let ended = 0
      const stalled = yield* Effect.fork(
        Effect.forEach(
          texts,
          (text) =>
            Effect.tap(
              raw(patient.port, text, () => connected++),
              () => Effect.sync(() => ended++),
            ),
          { concurrency: "unbounded" },
        ),
      )
      yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => connected === texts.length })
      expect((yield* deliver(patient.port, pair, eventOf(8))).status).toBe(200)
      const replies = yield* Effect.forEach(texts, (text) => raw(port, text), { concurrency: "unbounded" })
      expect(new Set(replies.map((text) => text.split("\r\n")[0]))).toEqual(
        new Set(["HTTP/1.1 408 Request Timeout"]),
      )
      // With a longer time limit the stalled connections are still open.
      expect(ended).toBe(0)
      yield* Fiber.interrupt(stalled)
    }),
  )

  it.scoped(
    "[W1] bodies that nobody has verified share one budget: 503 beyond it, and room again when they end",
    () =>
      Effect.gen(function* () {
        const { port } = yield* listening(withKey, { mostUnverified: 120_000 })
        expect((yield* deliver(port, pair, eventOf(1_400))).status).toBe(200)
        const large = eventOf(1_401, { padding: "x".repeat(40_000) })
        const headers = Object.entries(headersFor(pair, large)).map(
          ([name, value]) => `${name}: ${value}\r\n`,
        )
        const begun = `POST /webhooks/default HTTP/1.1\r\nhost: x\r\ncontent-length: 60000\r\n${headers.join("")}\r\n${"x".repeat(50_000)}`
        const held: Array<Fiber.Fiber<string>> = []
        // A connection beside a good delivery may itself be refused: more are opened until there is no room.
        const crowded = Effect.gen(function* () {
          held.push(yield* Effect.fork(raw(port, begun)))
          return yield* deliver(port, pair, large)
        })
        const reply = yield* Effect.repeat(crowded, { until: ({ status }) => status === 503 })
        expect(reply.headers["retry-after"]).toBe("5")
        for (const fiber of held) yield* Fiber.interrupt(fiber)
        yield* Effect.repeat(deliver(port, pair, large), { until: ({ status }) => status === 200 })
      }),
  )

  it.scoped("[W6] a timestamp that is older than the tolerance, where there is one: 400", () =>
    Effect.gen(function* () {
      const variables = { TIEOUT_INTERFACE_WEBHOOK_TOLERANCE: "5 minutes" }
      const { port } = yield* listening(withKey, { variables })
      const now = new Date().toISOString()
      const sent = (index: number, more: object) => deliver(port, pair, eventOf(index, more))
      expect((yield* sent(1_420, { timestamp: now })).status).toBe(200)
      expect((yield* sent(1_421, {})).status).toBe(400)
      expect((yield* sent(1_422, { timestamp: undefined })).status).toBe(400)
      expect((yield* sent(1_423, { timestamp: String(Math.floor(Date.now() / 1_000)) })).status).toBe(200)
    }),
  )

  it.scoped("[W6] one bit flipped at every offset, re-ordered, re-spaced: 401", () =>
    Effect.gen(function* () {
      const { port } = yield* listening(withKey)
      const body = Buffer.from(eventOf(9))
      const headers = headersFor(pair, body)
      const before = yield* count
      const flipped = Array.from({ length: body.length * 8 }, (_, bit) => {
        const copy = Buffer.from(body)
        copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        return copy
      })
      const statuses = yield* Effect.forEach(flipped, (copy) => send(port, copy, headers), {
        concurrency: 32,
      })
      expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([401]))
      const signature = Buffer.from(headers["x-signature"], "base64")
      const forged = Array.from({ length: signature.length * 8 }, (_, bit) => {
        const copy = Buffer.from(signature)
        copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        return { ...headers, "x-signature": copy.toString("base64") }
      })
      const others = yield* Effect.forEach(forged, (wrong) => send(port, body, wrong), { concurrency: 32 })
      expect(new Set(others.map(({ status }) => status))).toEqual(new Set([401]))
      const { id, ...rest }: Record<string, unknown> = JSON.parse(body.toString())
      for (const text of [
        JSON.stringify({ ...rest, id }),
        JSON.stringify({ id, ...rest }, null, 1),
        `${body} `,
        ` ${body}`,
      ])
        expect((yield* send(port, text, headers)).status).toBe(401)
      expect(yield* count).toBe(before)
      expect((yield* send(port, body, headers)).status).toBe(200)
    }),
  )

  it.scoped("[W6] whatever was signed is accepted and nothing else", () =>
    Effect.gen(function* () {
      const { port } = yield* listening(withKey)
      const property = fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 300 }),
        fc.uint8Array({ minLength: 1, maxLength: 300 }),
        async (signed, sent) => {
          const status = (body: Uint8Array) =>
            Effect.runPromise(Effect.map(send(port, body, headersFor(pair, signed)), (reply) => reply.status))
          expect(await status(signed)).toBe(200)
          expect(await status(sent)).toBe(Buffer.compare(signed, sent) === 0 ? 200 : 401)
        },
      )
      yield* Effect.promise(() => fc.assert(property, { numRuns: 50 }))
    }),
  )

  const unreadable: ReadonlyArray<readonly [what: string, body: Uint8Array | string, why: string]> = [
    [
      "bad UTF-8",
      Buffer.concat([
        Buffer.from(`{"id":"a","type":"b","x":"`),
        Buffer.from([0xff, 0xfe]),
        Buffer.from(`"}`),
      ]),
      "is not UTF-8",
    ],
    ["no JSON", "hello", "is not JSON"],
    ["deep JSON", `${"[".repeat(30_000)}${"]".repeat(30_000)}`, "is nested deeper than 32 levels"],
    ["__proto__", `{"id":"a","type":"b","data":{"__proto__":{"x":1}}}`, "has a field __proto__"],
    ["no id", `{"type":"b"}`, "has no id that is a text of 1 to 255 characters"],
    ["an id with NUL", `{"id":"a\\u0000","type":"b"}`, "has no id that is a text of 1 to 255 characters"],
    ["half a surrogate", `{"id":"\\ud800","type":"b"}`, "has no id that is a text of 1 to 255 characters"],
    ["no type", `{"id":"no-type"}`, "has no type that is a text of 1 to 255 characters"],
    ["a list", `[{"id":"a"}]`, "is not an object"],
    ["nothing", "", "is not JSON"],
  ]
  for (const [what, body, why] of unreadable) {
    it.scoped(`[W7] verified but unreadable (${what}): stored raw as poison, 200, counted`, () =>
      Effect.gen(function* () {
        const { counts, inbox, port } = yield* listening(withKey)
        expect((yield* deliver(port, pair, body)).status).toBe(200)
        expect((yield* deliver(port, pair, body)).status).toBe(200)
        expect((yield* counts).get("default")).toEqual(
          new Map([
            ["poison", 1],
            ["known", 1],
          ]),
        )
        const poison = yield* inbox.list({ ...all, state: Option.some("poison") })
        expect(poison[0]).toMatchObject({ error: `The body ${why}.`, type: null })
        const [row] = yield* rowsOf(poison[0]?.eventId ?? "")
        expect(Buffer.compare(row?.body ?? Buffer.alloc(0), Buffer.from(body))).toBe(0)
        expect(yield* inbox.take("nobody", 1)).toEqual([])
      }),
    )
  }

  it.scoped(
    "[W10] the same id 1,000 times at once: one row, all 200; with another body: both kept, flagged",
    () =>
      Effect.gen(function* () {
        const { counts, port } = yield* listening(withKey)
        const body = eventOf(10)
        const headers = headersFor(pair, body)
        const replies = yield* Effect.forEach(
          Array.from({ length: 1_000 }),
          () => send(port, body, headers),
          { concurrency: 1_000 },
        )
        expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
        expect(yield* rowsOf(uuid(10))).toHaveLength(1)
        expect((yield* deliver(port, pair, eventOf(10, { data: {} }))).status).toBe(200)
        expect((yield* rowsOf(uuid(10))).map(({ conflict }) => conflict)).toEqual([true, true])
        expect((yield* counts).get("default")?.get("conflict")).toBe(1)
      }),
  )

  it.scoped("[W11] unknown event types are stored as they are, 200", () =>
    Effect.gen(function* () {
      const { inbox, port } = yield* listening(withKey)
      expect((yield* deliver(port, pair, eventOf(11, { type: "client.enabled", data: null }))).status).toBe(
        200,
      )
      const [row] = yield* inbox.list({ ...all, limit: 1 })
      expect(row).toMatchObject({ eventId: uuid(11), type: "client.enabled", state: "waiting" })
    }),
  )

  it.scoped("[W15] stopping lets requests in flight end, accepts no new ones, and cuts incomplete ones", () =>
    Effect.gen(function* () {
      const inner = yield* Scope.make()
      const { port } = yield* Scope.extend(listening(withKey), inner)
      // The keys are known by then.
      expect((yield* deliver(port, pair, eventOf(14))).status).toBe(200)
      const body = eventOf(12)
      const headers = {
        ...headersFor(pair, body),
        "content-length": String(body.length),
        // With this header the server says when it has read the headers.
        expect: "100-continue",
      }
      const isConnected = yield* Deferred.make<void>()
      const idle = yield* Effect.fork(raw(port, "", () => Deferred.unsafeDone(isConnected, Effect.void)))
      yield* Deferred.await(isConnected)
      const begun = yield* Effect.async<{ readonly finish: () => void; readonly reply: Promise<number> }>(
        (resume) => {
          const sent = request({
            host: "127.0.0.1",
            port,
            path: "/webhooks/default",
            method: "POST",
            headers,
          })
          const reply = new Promise<number>((done) => {
            sent.on("response", (response) => done(response.statusCode ?? 0)).on("error", () => done(-1))
          })
          sent.once("continue", () =>
            sent.write(body.slice(0, 10), () =>
              resume(Effect.succeed({ finish: () => sent.end(body.slice(10)), reply })),
            ),
          )
          sent.flushHeaders()
        },
      )
      const stopped = yield* Effect.fork(Scope.close(inner, Exit.void))
      yield* Effect.repeat(send(port, "", {}, { method: "GET", path: "/healthz" }), {
        until: ({ status }) => status === -1,
      })
      expect(Option.isNone(yield* Fiber.poll(stopped))).toBe(true)
      begun.finish()
      expect(yield* Effect.promise(() => begun.reply)).toBe(200)
      yield* stopped.await
      yield* idle.await
      expect(yield* rowsOf(uuid(12))).toHaveLength(1)
    }),
  )

  it.scoped("[W15] reveals no keys, secrets or reasons", () =>
    Effect.gen(function* () {
      const { port } = yield* listening((_, response) => {
        response.writeHead(500, { "content-type": "application/json" }).end(`{"message":"${secretText}"}`)
      })
      const reply = yield* deliver(port, pair, eventOf(13))
      expect(reply.status).toBe(503)
      expect(Number(reply.headers["retry-after"])).toBeGreaterThan(0)
      expect(reply.body).toBe(`{"error":"try again later"}`)
      const forged = yield* deliver(port, pair, eventOf(13), { "x-signature": "%" })
      expect(forged.body).toBe(`{"error":"unauthorized"}`)
    }),
  )
})
