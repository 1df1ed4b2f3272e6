import { it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option, Redacted, TestClock } from "effect"
import { describe, expect } from "vitest"
import * as Fault from "../../src/Partner/Fault.ts"
import * as Token from "../../src/Partner/Token.ts"
import { account, failureOf, json, secret, serve, uuid, withPartner } from "./Service.ts"

/** A token endpoint that counts; token number n is `t<n>`. */
const counting = (expiresIn: Option.Option<number>) => {
  let count = 0
  const tokens = Token.make(
    Effect.sync(() => {
      count++
      return { token: Redacted.make(`t${count}`), expiresIn }
    }),
  )
  return { tokens, current: Effect.map(tokens.get, Redacted.value) }
}

describe("Tokens", () => {
  it.effect("[C9] are kept until 80 % of their life are over", () =>
    Effect.gen(function* () {
      const { current } = counting(Option.some(100))
      expect(yield* current).toBe("t1")
      yield* TestClock.adjust("79 seconds")
      expect(yield* current).toBe("t1")
      yield* TestClock.adjust("1 seconds")
      expect(yield* current).toBe("t2")
    }),
  )

  it.effect("[C9] of unknown life are kept for a cautious while", () =>
    Effect.gen(function* () {
      const { current } = counting(Option.none())
      expect(yield* current).toBe("t1")
      yield* TestClock.adjust("239 seconds")
      expect(yield* current).toBe("t1")
      yield* TestClock.adjust("1 seconds")
      expect(yield* current).toBe("t2")
    }),
  )

  it.effect("[C8] are asked for once by all who wait, even if the first of them is interrupted", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      let count = 0
      const tokens = Token.make(
        Effect.gen(function* () {
          count++
          yield* Deferred.await(gate)
          return { token: Redacted.make("t"), expiresIn: Option.none() }
        }),
      )
      const first = yield* Effect.fork(tokens.get)
      yield* Effect.yieldNow()
      const others = yield* Effect.fork(
        Effect.all(
          Array.from({ length: 99 }, () => tokens.get),
          { concurrency: 99 },
        ),
      )
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(first)
      yield* Deferred.succeed(gate, undefined)
      expect(yield* Fiber.join(others)).toHaveLength(99)
      expect(count).toBe(1)
    }),
  )

  it.effect("[C8] that were replaced meanwhile are not forgotten when an old one is refused", () =>
    Effect.gen(function* () {
      const { tokens, current } = counting(Option.some(100))
      const old = yield* tokens.get
      yield* tokens.invalidate(Redacted.value(old))
      expect(yield* current).toBe("t2")
      yield* tokens.invalidate(Redacted.value(old))
      expect(yield* current).toBe("t2")
    }),
  )

  it.effect("[C9] are asked for again after a failure", () =>
    Effect.gen(function* () {
      let count = 0
      const tokens = Token.make(
        Effect.suspend(() => {
          count++
          return count === 1
            ? Effect.fail(Fault.make("Unavailable", "POST /oauth/token"))
            : Effect.succeed({ token: Redacted.make("t"), expiresIn: Option.none() })
        }),
      )
      expect((yield* Effect.flip(tokens.get)).reason).toBe("Unavailable")
      expect(Redacted.value(yield* tokens.get)).toBe("t")
    }),
  )

  it.each([
    [{}, false],
    [{ access_token: "a b" }, false],
    [{ access_token: "a\r\nx: y" }, false],
    [{ access_token: "" }, false],
    [{ access_token: "a", token_type: "mac" }, false],
    [{ access_token: "a" }, true],
    [{ access_token: "a", token_type: "bearer", expires_in: "60" }, true],
    ["a", false],
  ])("are read from %j: %s", (answer, isToken) => {
    expect(Option.isSome(Token.decode(answer))).toBe(isToken)
  })

  it("[C9] with an unusable expires_in are as those without", () => {
    const lives = [0, -1, "soon", null, Number.NaN].map((expires_in) =>
      Option.flatMap(Token.decode({ access_token: "a", expires_in }), ({ expiresIn }) => expiresIn),
    )
    expect(lives).toEqual(lives.map(() => Option.none()))
  })
})

describe("The token request", () => {
  it.live("[C11] whose answer is cut short never shows what came of the token", () =>
    withPartner(
      serve(
        (_, response) => json(response, account(1)),
        (_, response) => {
          response
            .writeHead(200, { "content-type": "application/json" })
            .end('{"access_token":"eyJhbGciOiJSUzI1NiJ9.half-a-tok')
        },
      ),
      (partner) =>
        Effect.gen(function* () {
          const error = yield* failureOf(partner.account(uuid(1)))
          expect(error.reason).toBe("BadResponse")
          expect(error.message).toContain("48 bytes")
          expect(error.message).not.toContain("eyJ")
        }),
    ),
  )

  it.live("is form-encoded, verbatim in its scope, without an Authorization header", () =>
    withPartner(
      serve((_, response) => json(response, account(1))),
      (partner, { calls }) =>
        Effect.gen(function* () {
          yield* partner.account(uuid(1))
          const [request] = calls
          expect(request).toMatchObject({ method: "POST", path: "/oauth/token" })
          expect(request?.headers["content-type"]).toBe("application/x-www-form-urlencoded")
          expect(request?.headers.authorization).toBeUndefined()
          expect([...new URLSearchParams(request?.body)]).toEqual([
            ["client_id", "the-client"],
            ["client_secret", secret],
            ["grant_type", "client_credentials"],
            ["scope", "accounts:read  deposits:read"],
          ])
          expect(calls[1]?.headers.authorization).toBe("Bearer token-0")
        }),
    ),
  )

  for (const status of [400, 401, 403]) {
    it.live(`[C9] answered ${status} is not tried again, and the advice names the settings`, () =>
      withPartner(
        serve(
          (_, response) => json(response, account(1)),
          (_, response) => json(response, { error: "invalid_client", message: `bad ${secret}` }, status),
        ),
        (partner, { calls }) =>
          Effect.gen(function* () {
            const error = yield* failureOf(partner.account(uuid(1)))
            expect(error).toMatchObject({ reason: "Unauthorized", status, operation: "POST /oauth/token" })
            expect(error.message).toContain("invalid_client")
            expect(error.message).toMatch(/TIEOUT_CLIENT_ID, TIEOUT_CLIENT_SECRET and TIEOUT_SCOPE/)
            expect(error.message).not.toContain(secret)
            expect(calls).toHaveLength(1)
          }),
      ),
    )
  }

  for (const status of [404, 405, 410]) {
    it.live(`answered ${status} says nothing of the thing that was asked for`, () =>
      withPartner(
        serve(
          (_, response) => json(response, account(1)),
          (_, response) => json(response, {}, status),
        ),
        (partner) =>
          Effect.gen(function* () {
            const error = yield* failureOf(partner.account(uuid(1)))
            expect(error).toMatchObject({ reason: "Unauthorized", status, operation: "POST /oauth/token" })
          }),
      ),
    )
  }

  it.live("that fails in passing is tried again", () =>
    withPartner(
      serve(
        (_, response) => json(response, account(1)),
        (_, response, index) =>
          index < 2 ? json(response, {}, 503) : json(response, { access_token: "t", token_type: "Bearer" }),
      ),
      (partner, { count }) =>
        Effect.gen(function* () {
          expect(Option.isSome(yield* partner.account(uuid(1)))).toBe(true)
          expect(count("/oauth/token")).toBe(3)
          expect((yield* partner.requests).get("token")).toBe(3)
        }),
    ),
  )

  it.live("[C8] is made once for 100 requests at once, and once more when all of them are refused", () =>
    withPartner(
      serve(({ headers, path }, response) => {
        if (headers.authorization === "Bearer token-0") json(response, {}, 401)
        else json(response, account(Number(path.slice(-3))))
      }),
      (partner, { count }) =>
        Effect.gen(function* () {
          const ids = Array.from({ length: 100 }, (_, index) => uuid(index))
          const found = yield* Effect.forEach(ids, (id) => partner.account(id), { concurrency: 100 })
          expect(found.filter(Option.isSome)).toHaveLength(100)
          expect(count("/oauth/token")).toBe(2)
          expect(count("/accounts/")).toBeLessThanOrEqual(200)
        }),
    ),
  )

  it.live("[C9] is made anew for requests that wait longer than a token lives", () => {
    const issued = new Map<string, number>()
    return withPartner(
      serve(
        ({ headers, path }, response) => {
          const age = Date.now() - (issued.get(headers.authorization ?? "") ?? 0)
          // One after the other, which takes three lives of a token.
          setTimeout(
            () => json(response, age < 1_000 ? account(Number(path.slice(-3))) : {}, age < 1_000 ? 200 : 401),
            30,
          )
        },
        (_, response, index) => {
          issued.set(`Bearer token-${index}`, Date.now())
          json(response, { access_token: `token-${index}`, token_type: "Bearer", expires_in: 1 })
        },
      ),
      (partner, { count }) =>
        Effect.gen(function* () {
          const ids = Array.from({ length: 100 }, (_, index) => uuid(index))
          const found = yield* Effect.forEach(ids, (id) => partner.account(id), { concurrency: 100 })
          expect(found.filter(Option.isSome)).toHaveLength(100)
          expect(count("/oauth/token")).toBeGreaterThan(2)
        }),
      { limits: { concurrency: 1 } },
    )
  })

  it.live("[C9] that is over at once is sent all the same, and not asked for without end", () =>
    withPartner(
      serve(
        (_, response) => json(response, account(1)),
        // As many as would be asked for in a moment.
        (_, response, index) =>
          json(
            response,
            { access_token: `token-${index}`, token_type: "Bearer", expires_in: 1e-9 },
            index < 50 ? 200 : 418,
          ),
      ),
      (partner, { count }) =>
        Effect.gen(function* () {
          expect(Option.isSome(yield* partner.account(uuid(1)))).toBe(true)
          expect(count("/oauth/token")).toBeLessThan(5)
          expect(count("/accounts/")).toBe(1)
        }),
    ),
  )

  it.live("[C9] is made anew for each attempt", () =>
    withPartner(
      serve(
        ({ headers }, response, index) => {
          if (index === 0) setTimeout(() => json(response, {}, 503), 900)
          else json(response, account(1), headers.authorization === "Bearer token-1" ? 200 : 418)
        },
        (_, response, index) =>
          json(response, { access_token: `token-${index}`, token_type: "Bearer", expires_in: 1 }),
      ),
      (partner) =>
        Effect.gen(function* () {
          expect(Option.isSome(yield* partner.account(uuid(1)))).toBe(true)
        }),
    ),
  )

  it.live("[C8] is repeated once after a 401, and then the failure is clear", () =>
    withPartner(
      serve((_, response) => json(response, { code: "token_expired" }, 401)),
      (partner, { count }) =>
        Effect.gen(function* () {
          const error = yield* failureOf(partner.account(uuid(1)))
          expect(error).toMatchObject({ reason: "Unauthorized", status: 401 })
          expect(error.message).toContain("token_expired")
          expect(count("/oauth/token")).toBe(2)
          expect(count("/accounts/")).toBe(2)
        }),
    ),
  )

  // The interface shows no status: "when a token is missing, expired or invalid, request a new token and retry".
  it.live("[C8] is repeated with a fresh token after a 403, too, since that may mean the token", () =>
    withPartner(
      serve(({ headers, path }, response) => {
        if (headers.authorization === "Bearer token-0") json(response, { message: "Forbidden" }, 403)
        else json(response, account(Number(path.slice(-3))))
      }),
      (partner, { count }) =>
        Effect.gen(function* () {
          const ids = Array.from({ length: 20 }, (_, index) => uuid(index))
          const found = yield* Effect.forEach(ids, (id) => partner.account(id), { concurrency: 20 })
          expect(found.filter(Option.isSome)).toHaveLength(20)
          expect(count("/oauth/token")).toBe(2)
        }),
    ),
  )

  it.live("[C8] is not repeated after every 403, where a fresh token changed nothing", () =>
    withPartner(
      serve((_, response) => json(response, {}, 403)),
      (partner, { count }) =>
        Effect.gen(function* () {
          for (const index of [1, 2, 3])
            expect(yield* failureOf(partner.account(uuid(index)))).toMatchObject({ reason: "Forbidden" })
          expect(count("/oauth/token")).toBe(2)
          expect(count("/accounts/")).toBe(4)
        }),
    ),
  )
})
