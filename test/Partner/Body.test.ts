import { gzipSync } from "node:zlib"
import { it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { describe, expect } from "vitest"
import {
  type Answerer,
  account,
  failureOf,
  isRead,
  json,
  secret,
  serve,
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

  it.live("[C11] that stays garbled says what came instead, without secrets", () =>
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
})
