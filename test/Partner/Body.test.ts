import { gzipSync } from "node:zlib"
import { it } from "@effect/vitest"
import { Effect, Either, Option } from "effect"
import { describe, expect } from "vitest"
import {
  type Answerer,
  account,
  failureOf,
  isRead,
  json,
  pagesIn,
  secret,
  serve,
  tokenAnswer,
  uuid,
  withPartner,
} from "./Service.ts"

describe("A garbled answer", () => {
  const body = JSON.stringify(account(1))
  const gzip = gzipSync(body)
  const garbled: ReadonlyArray<readonly [string, Answerer]> = [
    [
      "HTML",
      (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>Log in</html>"),
    ],
    ["an empty body", (_, response) => response.writeHead(200).end()],
    ["truncated JSON", (_, response) => response.writeHead(200).end(body.slice(0, -5))],
    [
      "truncated gzip",
      (_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(gzip.subarray(0, -12)),
    ],
    [
      "a reset mid-body",
      (_, response) => {
        response.writeHead(200, { "content-length": String(body.length) })
        response.write(body.slice(0, 20), () => response.destroy())
      },
    ],
    [
      "a short Content-Length",
      (_, response) => response.writeHead(200, { "content-length": "20" }).end(body.slice(0, 20)),
    ],
    ["a reset before the answer", (_, response) => response.destroy()],
    [
      "an encoding nobody asked for",
      (_, response) => response.writeHead(200, { "content-encoding": "br" }).end("x"),
    ],
  ]
  for (const [name, answer] of garbled) {
    it.live(`[C11] ${name} is tried again`, () =>
      withPartner(
        serve((call, response, index) =>
          index < 2 ? answer(call, response, index) : json(response, account(1)),
        ),
        (partner, { count }) =>
          Effect.gen(function* () {
            expect(isRead(yield* partner.account(uuid(1)))).toBe(true)
            expect(count("/accounts")).toBe(3)
          }),
      ),
    )
  }

  it.live("an answer in an encoding that no request allows says which, and what to do", () =>
    withPartner(
      serve((_, response) => response.writeHead(200, { "content-encoding": "br" }).end("x")),
      (partner, { calls }) =>
        Effect.gen(function* () {
          const error = yield* failureOf(partner.account(uuid(1)))
          expect(error.reason).toBe("BadResponse")
          expect(error.message).toContain("is encoded as br, and only gzip was asked for. Ask the operators")
          expect(new Set(calls.map(({ headers }) => headers["accept-encoding"]))).toEqual(new Set(["gzip"]))
        }),
    ),
  )

  it.live("every request says who asks: a service may refuse those that do not", () => {
    const strangers: Answerer = (call, response) =>
      call.headers["user-agent"] === undefined
        ? json(response, { message: "Forbidden" }, 403)
        : json(response, account(1))
    return withPartner(
      serve(strangers, (call, response, index) =>
        call.headers["user-agent"] === undefined
          ? json(response, { message: "Forbidden" }, 403)
          : tokenAnswer(call, response, index),
      ),
      (partner) =>
        Effect.gen(function* () {
          expect(isRead(yield* partner.account(uuid(1)))).toBe(true)
        }),
    )
  })

  it.live("the name of an encoding may stand in any case, with white space around it", () =>
    withPartner(
      serve((_, response) => response.writeHead(200, { "content-encoding": " GZip " }).end(gzip)),
      (partner) =>
        Effect.gen(function* () {
          expect(isRead(yield* partner.account(uuid(1)))).toBe(true)
        }),
    ),
  )

  it.live("[C11] that stays garbled is described in the error, without secrets", () =>
    withPartner(
      serve((call, response) =>
        response
          .writeHead(200, { "content-type": "text/html; charset=utf-8" })
          .end(`<html>\n<b>Log in</b> ${call.headers.authorization} ${secret}${"x".repeat(200)}</html>`),
      ),
      (partner) =>
        Effect.gen(function* () {
          const error = yield* failureOf(partner.account(uuid(1)))
          expect(error.reason).toBe("BadResponse")
          expect(error.detail).toContain("(text/html; charset=utf-8): <html> <b>Log in</b> Bearer ••• •••xxx")
          expect(error.detail).not.toContain("token-0")
          expect(error.detail).not.toContain(secret)
        }),
    ),
  )

  it.live("whole gzip, deflate-free JSON and a byte order mark are read", () =>
    withPartner(
      serve((call, response) => {
        if (call.path.endsWith("1")) response.writeHead(200, { "content-encoding": "gzip" }).end(gzip)
        else response.writeHead(200).end(`\ufeff ${JSON.stringify(account(2))}\n`)
      }),
      (partner) =>
        Effect.gen(function* () {
          expect(isRead(yield* partner.account(uuid(1)))).toBe(true)
          expect(isRead(yield* partner.account(uuid(2)))).toBe(true)
        }),
    ),
  )

  it.live("[B] bytes that are no UTF-8 spoil the row, not the request", () =>
    withPartner(
      serve((_, response) => {
        const [before = "", after = ""] = JSON.stringify({ ...account(1), status: "?" }).split("?")
        response
          .writeHead(200)
          .end(Buffer.concat([Buffer.from(before), Buffer.from([0xff]), Buffer.from(after)]))
      }),
      (partner) =>
        Effect.gen(function* () {
          const found = Option.getOrThrow(yield* partner.account(uuid(1)))
          expect(found).toMatchObject({ left: { path: "$.status", reason: "is not valid UTF-8" } })
        }),
    ),
  )

  it.live("[B] another resource than the one asked for is malformed", () =>
    withPartner(
      serve((_, response) => json(response, account(2))),
      (partner) =>
        Effect.gen(function* () {
          const found = Option.getOrThrow(yield* partner.account(uuid(1)))
          expect(found).toMatchObject({
            left: { path: "$.accountId", reason: "is not the identifier that was asked for" },
          })
        }),
    ),
  )
})

describe("A body over the limit", () => {
  const limits = { maxBodyBytes: 10_000 }
  const large: ReadonlyArray<readonly [string, Answerer]> = [
    [
      "declared",
      (_, response) => response.writeHead(200, { "content-length": "10001" }).end(" ".repeat(10_001)),
    ],
    [
      "streamed without end",
      (_, response) => {
        response.writeHead(200)
        const more = () => {
          while (response.writable && response.write(" ".repeat(1000))) {}
        }
        response.on("drain", more)
        more()
      },
    ],
    [
      "packed small",
      (_, response) =>
        response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(" ".repeat(5_000_000))),
    ],
  ]
  for (const [name, answer] of large) {
    it.live(`[C12] ${name} is cut off and not asked for again`, () =>
      withPartner(
        serve(answer),
        (partner, { count }) =>
          Effect.gen(function* () {
            expect((yield* failureOf(partner.account(uuid(1)))).reason).toBe("TooLarge")
            expect(count("/accounts")).toBe(1)
          }),
        { limits },
      ),
    )
  }

  // What only a smaller page helps, or nothing at all, must not send people to `limits.maxBodyBytes`.
  const beyond = (_: unknown, response: Parameters<Answerer>[1]) =>
    response.writeHead(200).end(" ".repeat(3 * 1024 * 1024))
  it.live("[C12] names the setting that admits it, and none where there is none", () =>
    withPartner(serve(beyond), (partner) =>
      Effect.gen(function* () {
        const thing = yield* failureOf(partner.account(uuid(1)))
        expect(thing.detail).toBe("the answer is larger than 32768 bytes")
        expect(thing.advice).toMatch(/^No setting admits more/)
        const list = yield* failureOf(pagesIn(partner.accounts(Option.none())))
        expect(list.detail).toBe("the answer is larger than 2097152 bytes")
        expect(list.advice).toMatch(/^Set a smaller `interface.paging.size`/)
      }),
    ),
  )
  it.live("[C12] names limits.maxBodyBytes where that is the bound", () =>
    withPartner(
      serve(beyond),
      (partner) =>
        Effect.gen(function* () {
          expect((yield* failureOf(partner.account(uuid(1)))).advice).toContain("`limits.maxBodyBytes`")
        }),
      { limits },
    ),
  )
})

describe("An answer within the bytes that it may have", () => {
  const mebibytes = (unit: string, before: string, after: string) =>
    gzipSync(before + unit.repeat(Math.floor(2_000_000 / unit.length)) + after)
  const page = ['{"items":[', '{}],"pageInfo":{"hasNextPage":false}}'] as const
  const vast: ReadonlyArray<readonly [string, Buffer, string]> = [
    ["of hundreds of thousands of empty rows", mebibytes("{},", ...page), "more than 500000 values"],
    [
      "of a million numbers",
      mebibytes("0,", '{"items":[{"a":[', `0]}${page[1].slice(2)}`),
      "more than 500000 values",
    ],
    ["nested without end", mebibytes("[", "", ""), "nested deeper than 256 levels"],
    [
      "of hundreds of thousands of fields",
      mebibytes('"":[0,0,0,0],', '{"items":[{', `"b":0}${page[1].slice(2)}`),
      "more than 500000 values",
    ],
    [
      "of more rows than a small multiple of what was asked for",
      gzipSync(`${page[0]}${"{},".repeat(5_000)}${page[1]}`),
      "a page holds 5001 items, and 100 were asked for",
    ],
  ]
  for (const [name, body, detail] of vast) {
    it.live(`[C12] ${name} is refused before it is decoded`, () =>
      withPartner(
        serve((_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(body)),
        (partner, { count }) =>
          Effect.gen(function* () {
            const error = yield* failureOf(pagesIn(partner.accounts(Option.none())))
            expect(error.reason).toBe("TooLarge")
            expect(error.detail).toContain(detail)
            expect(count("/accounts")).toBe(1)
          }),
      ),
    )
  }

  it.live("is read even if its text looks like structure", () =>
    withPartner(
      serve((_, response) =>
        json(response, {
          items: [{ ...account(1), note: '[{,"'.repeat(400_000) }],
          pageInfo: { hasNextPage: false },
        }),
      ),
      (partner) =>
        Effect.map(pagesIn(partner.accounts(Option.none())), (pages) =>
          expect([...pages].flatMap(({ rows }) => rows.map(Either.isRight))).toEqual([true]),
        ),
    ),
  )

  it.live("[C12] may be as large as its rows allow: one thing, a page, a page of many rows", () =>
    withPartner(
      serve(({ path }, response) => {
        const row = (bytes: number) => ({ ...account(1), note: "x".repeat(bytes) })
        if (path.endsWith(uuid(1))) json(response, row(33_000))
        else json(response, { items: [row(4_200_000)], pageInfo: { hasNextPage: false } })
      }),
      (partner) =>
        Effect.gen(function* () {
          const one = yield* failureOf(partner.account(uuid(1)))
          expect([one.reason, one.detail]).toEqual(["TooLarge", "the answer is larger than 32768 bytes"])
          // No setting changes that.
          expect(one.advice).not.toMatch(/interface|limits/)
          const page = yield* failureOf(pagesIn(partner.accounts(Option.none())))
          expect([page.reason, page.detail]).toEqual(["TooLarge", "the answer is larger than 2097152 bytes"])
        }),
    ),
  )

  it.live("[C12] is dropped where too much comes at once, and asked for again", () => {
    const size = 9_000
    const waiting: Array<() => void> = []
    const asked: Array<string> = []
    let together = false
    return withPartner(
      serve(({ path }, response) => {
        const text = JSON.stringify({ ...account(Number(path.slice(-2))), note: "x".repeat(size) })
        response.writeHead(200).write(text.slice(0, -2))
        const end = () => response.end(text.slice(-2))
        if (!together) {
          end()
          return
        }
        asked.push(path)
        // All five have come but for their ends, and the last is more than is held at a time: the ends come once it is asked
        // for again.
        waiting.push(end)
        if (waiting.length > 5) for (const each of waiting.splice(0)) each()
      }),
      (partner) =>
        Effect.gen(function* () {
          const read = (index: number) => partner.account(uuid(index + 10))
          // Requests run in parallel once some have been answered.
          for (let index = 0; index < 5; index++) yield* read(index)
          together = true
          const found = yield* Effect.forEach([0, 1, 2, 3, 4], read, { concurrency: "unbounded" })
          expect(found.every(isRead)).toBe(true)
          expect(new Set(asked).size).toBe(5)
          expect(asked.length).toBeGreaterThan(5)
        }),
      { limits: { maxBodyBytes: 10_000, concurrency: 8 }, tuning: { startRate: 1_000 } },
    )
  })
})
