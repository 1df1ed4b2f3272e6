import { it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber, Option } from "effect"
import { describe, expect } from "vitest"
import { outcomeOf } from "../../src/Partner/Attempt.ts"
import * as Fault from "../../src/Partner/Fault.ts"
import { bounds, defaultLimits } from "../../src/Partner/ServiceLimits.ts"
import { Partner } from "../../src/Partner.ts"
import { defaultInterface } from "../../src/Settings/Interface.ts"
import { freePort } from "../support/Loopback.ts"
import {
  type Answerer,
  account,
  failureOf,
  isRead,
  json,
  pagesIn,
  partnerAt,
  serve,
  short,
  uuid,
  withPartner,
} from "./Service.ts"

describe("A status", () => {
  for (const status of [408, 425, 429, 500, 502, 503, 504, 520, 599]) {
    it.live(`[C2] ${status} is tried again`, () =>
      withPartner(
        serve((_, response, index) =>
          index < 1 ? json(response, {}, status, { "retry-after": "0" }) : json(response, account(1)),
        ),
        (partner, { count }) =>
          Effect.gen(function* () {
            expect(isRead(yield* partner.account(uuid(1)))).toBe(true)
            expect(count("/accounts")).toBe(2)
            expect([...(yield* partner.requests)]).toEqual([
              ["token", 1],
              ["account", 2],
            ])
          }),
      ),
    )
  }

  for (const [shape, body, said] of [
    [
      "by field",
      { first: [{ code: "max", message: "at most 50", params: { value: 100, max: 50 } }] },
      "first: max (at most 50)",
    ],
    [
      "by nested field and index, in an envelope",
      {
        code: "invalid",
        errors: { filter: { "0": { from: [{ code: "date", message: null, params: { value: "x" } }] } } },
      },
      "invalid: errors.filter.0.from: date",
    ],
    ["as a problem (RFC 9457)", { title: "Bad request", detail: "after is unknown" }, "after is unknown"],
  ] as const) {
    it.live(`400 with what is wrong ${shape} is told`, () =>
      withPartner(
        serve((_, response) => json(response, body, 400)),
        (partner) =>
          Effect.gen(function* () {
            const error = yield* failureOf(pagesIn(partner.accounts(Option.none())))
            expect(error.detail).toBe(`the request is refused (${said})`)
          }),
      ),
    )
  }

  for (const [status, reason] of [
    [400, "Rejected"],
    [402, "Rejected"],
    [403, "Forbidden"],
    [405, "Rejected"],
    [406, "Rejected"],
    [409, "Rejected"],
    [410, "NotFound"],
    [418, "Rejected"],
    [422, "Rejected"],
    [451, "Rejected"],
    [501, "Rejected"],
    [505, "Rejected"],
  ] as const) {
    it.live(`[C2] ${status} fails at once`, () =>
      withPartner(
        serve((_, response) => json(response, { code: "no_luck", message: "Not\u001b[31m today" }, status)),
        (partner, { count }) =>
          Effect.gen(function* () {
            const error = yield* failureOf(pagesIn(partner.accounts(Option.none())))
            expect(error).toMatchObject({ reason, status, operation: "GET /accounts" })
            expect(error.detail).toContain("(no_luck: Not [31m today)")
            // A 403 may mean the token: it is asked for once more with a fresh one.
            expect(count("/accounts")).toBe(status === 403 ? 2 : 1)
          }),
      ),
    )
  }

  for (const status of [404, 410]) {
    it.live(`${status} of a resource means that there is none`, () =>
      withPartner(
        serve((_, response) => json(response, {}, status)),
        (partner) =>
          Effect.gen(function* () {
            expect(yield* partner.resource("DEPOSIT", uuid(1))).toEqual(Option.none())
          }),
      ),
    )
  }

  it.live("204 of a resource means that there is none, and is asked for once", () =>
    withPartner(
      serve((_, response) => response.writeHead(204).end()),
      (partner, { count }) =>
        Effect.gen(function* () {
          expect(yield* partner.resource("DEPOSIT", uuid(1))).toEqual(Option.none())
          expect(count("/deposits/")).toBe(1)
          // A list says by its PageInfo that it has ended, never so.
          const error = yield* failureOf(pagesIn(partner.accounts(Option.none())))
          expect(error).toMatchObject({ reason: "BadResponse", status: 204 })
          expect(count("/accounts")).toBe(1)
        }),
    ),
  )

  it.live("204 is no token", () =>
    withPartner(
      serve(
        (_, response) => json(response, account(1)),
        (_, response) => response.writeHead(204).end(),
      ),
      (partner) =>
        Effect.gen(function* () {
          expect(yield* failureOf(partner.account(uuid(1)))).toMatchObject({
            reason: "BadResponse",
            status: 204,
          })
        }),
    ),
  )

  it.live("[C5] 503 is given up after five tries", () =>
    withPartner(
      serve((_, response) => json(response, {}, 503)),
      (partner, { count }) =>
        Effect.gen(function* () {
          expect(yield* failureOf(partner.account(uuid(1)))).toMatchObject({
            reason: "Unavailable",
            status: 503,
          })
          expect(count("/accounts")).toBe(5)
        }),
    ),
  )

  it.live("[C6] 503 without end: the offered load stays below 1.1x, and every request ends", () =>
    withPartner(
      serve((_, response) => json(response, {}, 503)),
      (partner, { count }) =>
        Effect.gen(function* () {
          const ids = Array.from({ length: 500 }, (_, index) => uuid(index))
          const ends = yield* Effect.forEach(ids, (id) => Effect.exit(partner.account(id)), {
            concurrency: 50,
          })
          expect(ends.filter(Exit.isFailure)).toHaveLength(500)
          expect(count("/accounts")).toBeLessThan(550)
        }),
    ),
  )
})

describe("A pause that the service asks for", () => {
  it.live("[C3] beyond the longest wait ends the request, with the time to come back at", () =>
    withPartner(
      serve((_, response) => json(response, {}, 429, { "retry-after": "604800" })),
      (partner, { count }) =>
        Effect.gen(function* () {
          const before = Date.now()
          const error = yield* failureOf(partner.account(uuid(1)))
          expect(error).toMatchObject({ reason: "RateLimited", status: 429 })
          expect(error.detail).toContain("a pause of 604800 s")
          expect(error.advice).toContain("`limits.maxRetryAfter`")
          expect(error.retryAt).toBeGreaterThanOrEqual(before + 604_800_000)
          const next = yield* failureOf(partner.account(uuid(2)))
          expect(next.reason).toBe("RateLimited")
          expect(next.retryAt).toBeGreaterThan(before + 3_500_000)
          expect(count("/accounts")).toBe(1)
        }),
    ),
  )

  it.each([
    { longest: 0.25, held: 1 },
    { longest: 3, held: 3 },
  ])(
    "[C3] of a week holds a process that lives on for $held h, where its longest wait is $longest h",
    ({ held, longest }) => {
      const failure = Fault.ofStatus({ operation: "GET /accounts", status: 429, said: undefined })
      const limits = bounds({ ...defaultLimits, maxRetryAfter: Duration.hours(longest) })
      const outcome = outcomeOf({ kind: "failure", failure, hint: 7 * 86_400_000 }, limits)
      expect(outcome).toEqual({ kind: "refused", hold: held * 3_600_000 })
    },
  )

  it.live("[C3] holds back every request of the connection", () =>
    withPartner(
      serve((call, response) => {
        const isLimited = call.path.endsWith(uuid(1)) && limited++ === 0
        arrivals.push(performance.now())
        if (isLimited) json(response, {}, 503, { "retry-after": "1" })
        else json(response, account(Number(call.path.slice(-3))))
      }),
      (partner) =>
        Effect.gen(function* () {
          const first = yield* Effect.fork(partner.account(uuid(1)))
          while (arrivals.length === 0) yield* Effect.sleep("5 millis")
          // The refusal is on its way within this process: reading it needs turns of the event loop, not time.
          for (let turn = 0; turn < 100; turn++) yield* Effect.sleep("1 millis")
          yield* partner.account(uuid(2))
          yield* Fiber.join(first)
          const [refused = 0, next = 0] = arrivals
          // At least the requested second has passed; how much more depends on the machine.
          expect(next - refused).toBeGreaterThan(950)
        }),
    ),
  )
  let limited = 0
  const arrivals: Array<number> = []
})

describe("A stall", () => {
  const stalls: ReadonlyArray<readonly [string, Answerer, object]> = [
    ["before the headers", () => {}, { headersTimeout: short }],
    [
      "in the body",
      (_, response) => {
        response.writeHead(200, { "content-type": "application/json" }).write('{"accountId":')
      },
      { bodyTimeout: short },
    ],
    [
      "that trickles on",
      (_, response) => {
        response.writeHead(200)
        const timer = setInterval(() => response.write(" "), 50)
        response.on("close", () => clearInterval(timer))
      },
      { attemptTimeout: short },
    ],
  ]
  for (const [name, stall, limits] of stalls) {
    it.live(`[C1] ${name} is cut off and tried again`, () =>
      withPartner(
        serve((call, response, index) =>
          index === 0 ? stall(call, response, index) : json(response, account(1)),
        ),
        (partner, { count }) =>
          Effect.gen(function* () {
            expect(isRead(yield* partner.account(uuid(1)))).toBe(true)
            expect(count("/accounts")).toBe(2)
          }),
        { limits },
      ),
    )

    it.live(`[C1] ${name}, every time, is a timeout`, () =>
      withPartner(
        serve(stall),
        (partner) =>
          Effect.gen(function* () {
            const [setting = "none"] = Object.keys(limits)
            expect(yield* failureOf(partner.account(uuid(1)))).toMatchObject({
              reason: "Timeout",
              advice: expect.stringContaining(`set a larger \`limits.${setting}\``),
            })
          }),
        { limits: { ...limits, tries: 1 } },
      ),
    )
  }

  it.live("[C1] ends when its caller is interrupted", () =>
    Effect.gen(function* () {
      const closed = yield* Deferred.make<void>()
      const hang: Answerer = (_, response) => {
        response.once("close", () => Deferred.unsafeDone(closed, Effect.void))
      }
      yield* withPartner(serve(hang), (partner) =>
        Effect.gen(function* () {
          const answer = yield* Effect.timeoutOption(partner.account(uuid(1)), "500 millis")
          expect(Option.isNone(answer)).toBe(true)
          // The connection is closed as well, while the server still hangs.
          yield* Deferred.await(closed)
        }),
      )
    }),
  )
})

describe("Bearer and secret", () => {
  it.live("[C10] do not follow a redirect, neither of a resource nor of the token", () =>
    Effect.gen(function* () {
      const elsewhere = yield* serve((_, response) => json(response, account(1)))
      const away: Answerer = (_, response) => response.writeHead(307, { location: elsewhere.url }).end()
      yield* withPartner(serve(away), (partner, { calls }) =>
        Effect.gen(function* () {
          expect(yield* failureOf(partner.account(uuid(1)))).toMatchObject({
            reason: "RedirectRefused",
            status: 307,
          })
          expect(calls).toHaveLength(2)
        }),
      )
      yield* withPartner(serve(away, away), (partner) =>
        Effect.gen(function* () {
          const error = yield* failureOf(partner.account(uuid(1)))
          expect(error).toMatchObject({ reason: "RedirectRefused", operation: "POST /oauth/token" })
        }),
      )
      expect(elsewhere.calls).toEqual([])
    }).pipe(Effect.scoped),
  )

  for (const [path, target, advice] of [
    ["/accounts/{accountId}", (at: string) => `/api/v1${at}/`, "with a slash at its end"],
    ["/accounts/{accountId}", (at: string) => `http://127.0.0.1:1/api/v1${at}/`, "with a slash at its end"],
    ["/accounts/{accountId}/", (at: string) => `/api/v1${at.slice(0, -1)}`, "without the slash at its end"],
  ] as const) {
    it.live(`a redirect from ${path} to ${target("/…/")} says how the path is to be written`, () =>
      withPartner(
        serve((call, response) => response.writeHead(308, { location: target(call.path) }).end()),
        (partner) =>
          Effect.gen(function* () {
            const error = yield* failureOf(partner.account(uuid(1)))
            expect(error.reason).toBe("RedirectRefused")
            expect(error.message).toContain(
              `Write its path in \`interface.paths\` or \`interface.clientPaths\` ${advice}`,
            )
          }),
        { interface: { ...defaultInterface, paths: { ...defaultInterface.paths, account: path } } },
      ),
    )
  }

  for (const url of [
    "http://partner.example/api/v1",
    "http://127.0.0.1.example/api/v1",
    "ftp://127.0.0.1/",
    "https://user:pw@partner.example/",
    "https://partner.example/?a=b",
    "partner.example",
  ]) {
    it.live(`[C10] are not sent to ${url}`, () =>
      Effect.gen(function* () {
        const error = yield* failureOf(Effect.provide(Effect.asVoid(Partner), partnerAt(url)))
        expect(error.reason).toBe("Rejected")
        expect(error.message).not.toContain("pw")
      }),
    )
  }

  it.live("[C10] stay in one host, whatever an identifier looks like", () =>
    withPartner(
      serve((_, response) => json(response, {}, 404)),
      (partner, { calls }) =>
        Effect.gen(function* () {
          yield* partner.account("../../oauth/x?y#z")
          expect(calls[1]?.path).toBe("/accounts/%2E%2E%2F%2E%2E%2Foauth%2Fx%3Fy%23z")
        }),
    ),
  )
})

describe("A service that is not there", () => {
  it.live("[C2] is asked again, and then reported as unreachable", () =>
    Effect.gen(function* () {
      const port = yield* freePort
      const error = yield* failureOf(
        Effect.flatMap(Partner, (partner) => partner.account(uuid(1))).pipe(
          Effect.provide(partnerAt(`http://127.0.0.1:${port}/api/v1`)),
        ),
      )
      expect(error.reason).toBe("Unreachable")
      expect(error.detail).toContain("ECONNREFUSED")
    }),
  )

  it.live("[C2] only for a moment is not noticed", () =>
    withPartner(
      serve((_, response, index) => (index < 3 ? response.destroy() : json(response, account(1)))),
      (partner) =>
        Effect.gen(function* () {
          expect(isRead(yield* partner.account(uuid(1)))).toBe(true)
        }),
    ),
  )
})

describe("The profile", () => {
  it.live("names the paths; a null path means that there is no such list", () =>
    withPartner(
      serve((_, response) => json(response, {}, 404)),
      (partner, { calls }) =>
        Effect.gen(function* () {
          expect([partner.deposits, partner.conversions]).toEqual([null, null])
          yield* partner.resource("CONVERSION", uuid(7))
          expect(calls[1]?.path).toBe(`/fx/${uuid(7)}/state`)
        }),
      {
        interface: {
          ...defaultInterface,
          paths: { ...defaultInterface.paths, deposits: null, conversion: "/fx/{id}/state" },
        },
      },
    ),
  )

  it.live("gives a list parameters of its own, which go before those of its pages", () =>
    withPartner(
      serve((_, response) => json(response, {}, 404)),
      (partner, { calls }) =>
        Effect.gen(function* () {
          const error = yield* Effect.flip(pagesIn(partner.statement(uuid(7))(Option.some("a b"))))
          expect(calls[1]?.path).toBe(`/entries?filter[account]=${uuid(7)}&first=100&after=a+b`)
          expect(error.operation).toBe("GET /entries")
        }),
      {
        interface: {
          ...defaultInterface,
          paths: { ...defaultInterface.paths, statement: "/entries?filter[account]={accountId}" },
        },
      },
    ),
  )

  it.live("bounds the requests under way at once", () =>
    withPartner(
      serve((call, response) => {
        underWay++
        most = Math.max(most, underWay)
        setTimeout(() => {
          underWay--
          json(response, account(Number(call.path.slice(-3))))
        }, 5)
      }),
      (partner) =>
        Effect.gen(function* () {
          const ids = Array.from({ length: 200 }, (_, index) => uuid(index))
          yield* Effect.forEach(ids, (id) => partner.account(id), { concurrency: "unbounded" })
          expect(most).toBeLessThanOrEqual(4)
          expect(most).toBeGreaterThan(1)
        }),
      { limits: { concurrency: 4, attemptTimeout: Duration.seconds(30) } },
    ),
  )
  let underWay = 0
  let most = 0
})
