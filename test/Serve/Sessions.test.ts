import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Logger, Option, TestClock } from "effect"
import { login } from "../../src/Serve/Login.ts"
import { Guesses, hasSession, Sessions } from "../../src/Serve/Sessions.ts"
import { clockSetBack } from "../support/ClockSetBack.ts"

const cookiesOf = (header: string) => {
  const [name = "", value = ""] = (header.split(";")[0] ?? "").split("=")
  return { [name]: value }
}

describe("a session of the status page", () => {
  it("ends after twelve hours; beyond a thousand the oldest ends", () => {
    const sessions = new Sessions()
    const hour = 3_600_000
    const first = cookiesOf(sessions.begin(0, true))
    expect(sessions.isOpen(first, 12 * hour - 1, true)).toBe(true)
    expect(sessions.isOpen(first, 12 * hour, true)).toBe(false)
    expect(sessions.isOpen(first, 0, false)).toBe(false)
    const second = cookiesOf(sessions.begin(1, true))
    for (let count = 0; count < 999; count++) sessions.begin(2, true)
    expect([sessions.isOpen(first, 3, true), sessions.isOpen(second, 3, true)]).toEqual([false, true])
  })

  it.effect("ends after twelve hours where the clock is set back meanwhile", () =>
    Effect.gen(function* () {
      const sessions = new Sessions()
      const door = { token: "right", sessions, guesses: new Guesses() }
      const request = new Request("http://localhost/login", {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded", "content-length": "11" },
        body: "token=right",
      })
      const { headers } = yield* Effect.provideService(
        login(door),
        HttpServerRequest.HttpServerRequest,
        HttpServerRequest.fromWeb(request),
      )
      const open = clockSetBack("1 day")(hasSession(door, cookiesOf(headers["set-cookie"] ?? ""), undefined))
      expect(yield* open).toBe(true)
      yield* TestClock.adjust("12 hours")
      expect(yield* open).toBe(false)
    }),
  )
})

describe("wrong tokens", () => {
  it.effect(
    "are answered after half a second, and in one queue where there are many, whoever sends them",
    () =>
      Effect.gen(function* () {
        const guesses = new Guesses()
        const all = yield* Effect.forEach(Array.from({ length: 200 }), () => Effect.fork(guesses.wait))
        const done = Effect.map(
          Effect.forEach(all, Fiber.poll),
          (exits) => exits.filter(({ _tag }) => _tag === "Some").length,
        )
        yield* TestClock.adjust("499 millis")
        expect(yield* done).toBe(0)
        yield* TestClock.adjust("1 millis")
        expect(yield* done).toBe(50)
        yield* TestClock.adjust("1 seconds")
        expect(yield* done).toBe(150)
      }),
  )

  it.effect("fill the queue even if nobody waits for the answer; then no token is examined", () =>
    Effect.gen(function* () {
      const guesses = new Guesses()
      for (let count = 0; count < 1_000; count++) {
        expect(yield* guesses.isFull).toBe(false)
        const guess = yield* Effect.fork(guesses.wait)
        yield* Effect.yieldNow()
        yield* Fiber.interrupt(guess)
      }
      expect(yield* guesses.isFull).toBe(true)
      const request = new Request("http://localhost/login", {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded", "content-length": "11" },
        body: "token=right",
      })
      const answer = login({ token: "right", sessions: new Sessions(), guesses }).pipe(
        Effect.provideService(HttpServerRequest.HttpServerRequest, HttpServerRequest.fromWeb(request)),
      )
      expect((yield* answer).status, "not even the right one").toBe(429)
      yield* TestClock.adjust("10 millis")
      expect(yield* guesses.isFull).toBe(false)
    }),
  )

  it.effect("keep no token out for long, where the clock was ahead and is set right", () =>
    Effect.gen(function* () {
      const guesses = new Guesses()
      yield* Effect.fork(guesses.wait)
      yield* TestClock.adjust("1 second")
      const guess = Effect.zipRight(guesses.isFull, Effect.as(guesses.wait, "answered"))
      expect(yield* clockSetBack("1 day")(guesses.isFull)).toBe(false)
      const answer = yield* Effect.fork(clockSetBack("1 day")(guess))
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.poll(answer)).toEqual(Option.some(Exit.succeed("answered")))
    }),
  )

  it.effect("are logged once a minute, and at the end", () => {
    const said: Array<unknown> = []
    const logger = Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ message }) => void said.push(message)),
    )
    return Effect.gen(function* () {
      const guesses = new Guesses()
      const watching = yield* Effect.fork(guesses.watch)
      for (let count = 0; count < 3; count++) yield* Effect.fork(guesses.wait)
      yield* TestClock.adjust("3 minutes")
      expect(said.map(String)).toEqual([
        "The status page was shown 3 wrong tokens in the last minute. If that was not you, somebody is guessing.",
      ])
      yield* Effect.fork(guesses.wait)
      yield* TestClock.adjust("1 seconds")
      yield* Fiber.interrupt(watching)
      expect(said.slice(1).map(String)).toEqual([
        "The status page was shown 1 wrong token in the last minute. If that was not you, somebody is guessing.",
      ])
    }).pipe(Effect.provide(logger))
  })
})
