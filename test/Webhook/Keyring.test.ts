import type { ServerResponse } from "node:http"
import { expect, layer } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Option } from "effect"
import { Database } from "../../src/Database.ts"
import { json, uuid } from "../Partner/Service.ts"
import { pairOf, recordOf } from "./Keys.ts"
import { database, deliver, eventOf, keysFrom, listening } from "./Listening.ts"

const [first, second, third] = [pairOf("EdDSA"), pairOf("ES256"), pairOf("EdDSA")]
const keyCalls = "/webhooks/public-keys"

layer(database, { excludeTestServices: true })("the keys of a connection", (it) => {
  it.scoped("[W4] are read from the base address only, once for however many wait", () =>
    Effect.gen(function* () {
      const { port, service } = yield* listening((_, response) => {
        setTimeout(() => json(response, { items: [recordOf(first)], pageInfo: { hasNextPage: false } }), 100)
      })
      const replies = yield* Effect.forEach(
        Array.from({ length: 50 }, (_, index) => eventOf(2_000 + index)),
        (body) => deliver(port, first, body),
        { concurrency: 50 },
      )
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
      expect(service.calls.map(({ path }) => path)).toEqual(["/oauth/token", `${keyCalls}?first=100`])
      expect(service.calls[1]?.headers.authorization).toBe("Bearer token-0")
    }),
  )

  it.scoped("[W4] are found however their identifiers are spelled", () =>
    Effect.gen(function* () {
      const record = recordOf(first)
      const upper = { ...record, publicKeyId: record.publicKeyId.toUpperCase() }
      const { port } = yield* listening(keysFrom(() => [upper]))
      expect((yield* deliver(port, first, eventOf(2_050))).status).toBe(200)
      expect((yield* deliver(port, { ...first, id: upper.publicKeyId }, eventOf(2_051))).status).toBe(200)
    }),
  )

  it.scoped("[W4] may come as a plain list, or over several pages", () =>
    Effect.gen(function* () {
      const plain = yield* listening((_, response) => json(response, [recordOf(first), recordOf(second)]))
      expect((yield* deliver(plain.port, second, eventOf(2_100))).status).toBe(200)
      const paged = yield* listening(({ path }, response) =>
        path.includes("after=2")
          ? json(response, { items: [recordOf(second)], pageInfo: { hasNextPage: false } })
          : json(response, { items: [recordOf(first)], pageInfo: { hasNextPage: true, endCursor: "2" } }),
      )
      expect((yield* deliver(paged.port, second, eventOf(2_101))).status).toBe(200)
      // A key that cannot be read does not affect the others.
      const mixed = yield* listening((_, response) =>
        json(response, [{ publicKeyId: 7 }, null, recordOf(first)]),
      )
      expect((yield* deliver(mixed.port, first, eventOf(2_102))).status).toBe(200)
    }),
  )

  it.scoped("[W4] may be shown one by one, by the identifier that a delivery names", () =>
    Effect.gen(function* () {
      const held = new Map([first, second].map((pair) => [pair.id, recordOf(pair)]))
      const { port, service } = yield* listening(
        ({ path }, response) => {
          const record = held.get(path.slice(path.lastIndexOf("/") + 1))
          setTimeout(() => json(response, record ?? {}, record === undefined ? 404 : 200), 50)
        },
        { variables: { TIEOUT_INTERFACE_PATHS_PUBLIC_KEYS: `${keyCalls}/{id}` } },
      )
      // Two keys at once: neither waits in vain for the fetch of the other.
      const replies = yield* Effect.forEach(
        [first, second, first, second],
        (pair, index) => deliver(port, pair, eventOf(2_150 + index)),
        { concurrency: 4 },
      )
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200])
      const asked = service.count(keyCalls)
      expect((yield* deliver(port, first, eventOf(2_160))).status).toBe(200)
      expect(service.count(keyCalls)).toBe(asked)
      expect((yield* deliver(port, third, eventOf(2_161))).status).toBe(401)
      // Strangers have no more asked than fetches are allowed.
      const strangers = yield* Effect.forEach(
        Array.from({ length: 40 }, (_, index) => ({ ...third, id: `made-up-${index}` })),
        (pair, index) => deliver(port, pair, eventOf(2_170 + index)),
        { concurrency: 40 },
      )
      for (const { status } of strangers) expect([401, 503]).toContain(status)
      expect(service.count(keyCalls)).toBeLessThan(150)
      held.set(third.id, recordOf(third))
      expect((yield* deliver(port, second, eventOf(2_211))).status).toBe(200)
    }),
  )

  it.scoped(
    "[W4] unknown ones: 401 after a fresh fetch, ten fetches a minute, then 503; known ones go on",
    () =>
      Effect.gen(function* () {
        const { port, service } = yield* listening(keysFrom(() => [recordOf(first)]))
        const statuses: Array<number> = []
        for (let index = 0; index < 15; index++) {
          const stranger = { ...second, id: `made-up-${index}` }
          const reply = yield* deliver(port, stranger, eventOf(2_200 + index))
          statuses.push(reply.status)
          if (reply.status === 503) expect(Number(reply.headers["retry-after"])).toBeGreaterThan(30)
        }
        expect(statuses).toEqual([
          ...Array.from({ length: 10 }, () => 401),
          ...Array.from({ length: 5 }, () => 503),
        ])
        expect(service.count(keyCalls)).toBe(10)
        expect((yield* deliver(port, first, eventOf(2_220))).status).toBe(200)
      }),
  )

  it.scoped("[W4] service down: 503 with Retry-After for unknown keys, known ones are still accepted", () =>
    Effect.gen(function* () {
      let down = false
      const { port } = yield* listening((_, response) =>
        down ? json(response, {}, 503, { "retry-after": "30" }) : json(response, [recordOf(first)]),
      )
      expect((yield* deliver(port, first, eventOf(2_300))).status).toBe(200)
      down = true
      const unknown = yield* deliver(port, second, eventOf(2_301))
      expect(unknown.status).toBe(503)
      expect(Number(unknown.headers["retry-after"])).toBeGreaterThan(0)
      expect((yield* deliver(port, first, eventOf(2_302))).status).toBe(200)
      down = false
      // A delivery that was refused is accepted as soon as it can be checked.
      expect((yield* deliver(port, first, eventOf(2_301))).status).toBe(200)
    }),
  )

  it.scoped("[W4] are not asked for elsewhere when the service redirects", () =>
    Effect.gen(function* () {
      const elsewhere = yield* listening(keysFrom(() => [recordOf(first)]))
      const { port } = yield* listening((_, response) => {
        response.writeHead(307, { location: `${elsewhere.service.url}${keyCalls}` }).end()
      })
      expect((yield* deliver(port, first, eventOf(2_400))).status).toBe(503)
      expect(elsewhere.service.calls).toEqual([])
    }),
  )

  it.scoped("[W5] rotation in the middle of a stream loses nothing", () =>
    Effect.gen(function* () {
      let keys = [recordOf(first)]
      const { inbox, port, service } = yield* listening(keysFrom(() => keys))
      const rounds = [first, second, third, second, first, third]
      const statuses = yield* Effect.forEach(rounds, (pair, round) =>
        Effect.gen(function* () {
          if (round === 1) keys = [recordOf(first), recordOf(second)]
          if (round === 2) keys = [recordOf(first), recordOf(second), recordOf(third)]
          return yield* Effect.forEach(
            Array.from({ length: 20 }, (_, index) => eventOf(2_500 + round * 20 + index)),
            (body) => deliver(port, pair, body),
            { concurrency: 20 },
          )
        }),
      )
      expect(new Set(statuses.flat().map(({ status }) => status))).toEqual(new Set([200]))
      expect(service.count(keyCalls)).toBe(3)
      expect(yield* inbox.counts()).not.toEqual([])
    }),
  )

  it.scoped("[W5] one that was listed before it was activated is accepted as soon as it is active", () =>
    Effect.gen(function* () {
      let active = false
      const { port } = yield* listening(keysFrom(() => [recordOf(first), recordOf(second, { active })]))
      expect((yield* deliver(port, first, eventOf(2_450))).status).toBe(200)
      expect((yield* deliver(port, second, eventOf(2_451))).status).toBe(401)
      active = true
      expect((yield* deliver(port, second, eventOf(2_452))).status).toBe(200)
    }),
  )

  it.scoped("[W5] a withdrawn key is noticed without a delivery waiting; inactive 401", () =>
    Effect.gen(function* () {
      let active = true
      const { port } = yield* listening(
        keysFrom(() => [recordOf(first, { active })]),
        { keys: { refreshAfter: Duration.millis(50) } },
      )
      expect((yield* deliver(port, first, eventOf(2_600))).status).toBe(200)
      active = false
      yield* Effect.sleep("80 millis")
      expect((yield* deliver(port, first, eventOf(2_601))).status).toBe(200)
      yield* Effect.repeat(Effect.delay(deliver(port, first, eventOf(2_602)), "20 millis"), {
        until: ({ status }) => status === 401,
      })
    }),
  )

  it.scoped(
    "[W5] a key that was withdrawn while nothing came is not accepted by the first delivery after",
    () =>
      Effect.gen(function* () {
        let keys = [recordOf(first)]
        const { port, service } = yield* listening(
          keysFrom(() => keys),
          { keys: { quietAfter: Duration.millis(50) } },
        )
        expect((yield* deliver(port, first, eventOf(2_620))).status).toBe(200)
        keys = [recordOf(second)]
        yield* Effect.sleep("80 millis")
        expect((yield* deliver(port, first, eventOf(2_621))).status).toBe(401)
        expect(service.count(keyCalls)).toBe(2)
        expect((yield* deliver(port, second, eventOf(2_622))).status).toBe(200)
      }),
  )

  it.scoped(
    "[W4] known ones are accepted for a while only where the service does not give its keys out",
    () =>
      Effect.gen(function* () {
        let down = false
        const { port } = yield* listening(
          (_, response) => (down ? json(response, {}, 503) : json(response, [recordOf(first)])),
          { keys: { quietAfter: Duration.millis(1), trustFor: Duration.millis(60) } },
        )
        expect((yield* deliver(port, first, eventOf(2_640))).status).toBe(200)
        down = true
        yield* Effect.sleep("100 millis")
        const reply = yield* deliver(port, first, eventOf(2_641))
        expect([reply.status, Number(reply.headers["retry-after"]) > 0]).toEqual([503, true])
        down = false
        expect((yield* deliver(port, first, eventOf(2_641))).status).toBe(200)
      }),
  )

  it.scoped("[W4] are 64 at most, the active ones first", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 100 }, (_, at) => ({
        ...recordOf(second, { active: false }),
        publicKeyId: `old-${at}`,
      }))
      const { port } = yield* listening(keysFrom(() => [...many, recordOf(first)]))
      expect((yield* deliver(port, first, eventOf(2_660))).status).toBe(200)
      expect((yield* deliver(port, { ...second, id: "old-99" }, eventOf(2_661))).status).toBe(401)
    }),
  )

  it.scoped("[W4] are the newest ones, where the service lists more active ones", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 100 }, (_, at) => ({
        ...recordOf(second, { createdAt: `20${String(at).padStart(2, "0")}-01-01T00:00:00Z` }),
        publicKeyId: `of-${at}`,
      })).filter(({ publicKeyId }) => publicKeyId !== "of-26")
      const { port } = yield* listening(keysFrom(() => [...many, recordOf(first)]))
      expect((yield* deliver(port, { ...second, id: "of-99" }, eventOf(2_670))).status).toBe(200)
      expect((yield* deliver(port, first, eventOf(2_671))).status).toBe(401)
      const { port: other } = yield* listening(
        keysFrom(() => [...many.slice(0, 70), recordOf(first, { createdAt: "2099-10-01T00:00:00+02:00" })]),
      )
      expect((yield* deliver(other, first, eventOf(2_672))).status).toBe(200)
    }),
  )

  it.scoped("[W9] no call inside the request: all is acknowledged while the service answers nothing", () =>
    Effect.gen(function* () {
      const open: Array<ServerResponse> = []
      let hangs = false
      let underWay = 0
      let most = 0
      const { port } = yield* listening(
        (_, response) => {
          if (hangs) {
            open.push(response)
            most = Math.max(most, ++underWay)
            response.once("close", () => underWay--)
          } else json(response, [recordOf(first)])
        },
        { keys: { refreshAfter: Duration.millis(1) } },
      )
      expect((yield* deliver(port, first, eventOf(2_700))).status).toBe(200)
      hangs = true
      yield* Effect.sleep("5 millis")
      const replies = yield* Effect.forEach(
        Array.from({ length: 400 }, (_, index) => eventOf(3_000 + index)),
        (body) => deliver(port, first, body),
        { concurrency: 32 },
      )
      // The keys were due to be read again: the request has had no answer, and no delivery has waited for it.
      expect(open.length).toBeGreaterThan(0)
      expect(open.some(({ writableEnded }) => writableEnded)).toBe(false)
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
      // There is one request at a time, whatever comes meanwhile.
      expect(most).toBe(1)
    }),
  )

  it.scoped(
    "[W9] nothing waits for what the events bring about: all is acknowledged while a round stands still",
    () =>
      Effect.gen(function* () {
        const { inbox, port } = yield* listening((_, response) => json(response, [recordOf(first)]))
        const { query } = yield* Database
        const begun = yield* Deferred.make<void>()
        // The processor has taken its events, and is in a transaction that does not end.
        const round = yield* Effect.fork(
          Effect.scoped(
            Effect.gen(function* () {
              const database = yield* Database
              yield* database.tryLock("sync:default")
              return yield* database.transaction(
                Effect.zipRight(
                  inbox.take("default", 5_000),
                  Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never),
                ),
              )
            }),
          ),
        )
        expect((yield* deliver(port, first, eventOf(4_000))).status).toBe(200)
        yield* Deferred.await(begun)
        const replies = yield* Effect.forEach(
          Array.from({ length: 100 }, (_, index) => eventOf(4_001 + index)),
          (body) => deliver(port, first, body),
          { concurrency: 16 },
        )
        expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
        expect(Option.isNone(yield* Fiber.poll(round))).toBe(true)
        const stored = yield* query(
          "Test.rows",
          (sql) => sql<Array<{ n: number }>>`
          select count(*)::integer as n from webhook.inbox where event_id >= ${uuid(4_001)} and event_id <= ${uuid(4_100)}`,
        )
        expect(stored).toEqual([{ n: 100 }])
        yield* Fiber.interrupt(round)
      }),
  )
})
