/** Requests that one connection sends without waiting for the answers before them. */
import { connect } from "node:net"
import { expect, it } from "@effect/vitest"
import { Duration, Effect, Exit, Scope } from "effect"
import { defaultOptions, listen } from "../../src/Webhook/Listener.ts"
import type { Receive } from "../../src/Webhook/Receiver.ts"

/** A listener whose deliveries are never answered, as while the service does not give its keys, and how many are under way. */
const unanswering = Effect.gen(function* () {
  const taken = { count: 0 }
  const receive: Receive = () => {
    taken.count++
    return new Promise(() => {})
  }
  const options = { ...defaultOptions, host: "127.0.0.1", port: 0, path: "/{connection}" }
  const { port } = yield* listen(
    { ...options, grace: Duration.minutes(5) },
    new Map([["default", receive]]),
    () => {},
  )
  return { port, taken }
})

const request = "POST /default HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"

/** Sends so many requests at once; ends when the connection is closed, or after the answers that are to come. */
const pipeline = (port: number, requests: number, isEnough: () => boolean) =>
  Effect.async<"closed" | "open">((resume) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(request.repeat(requests)))
    const look = setInterval(() => {
      if (isEnough()) socket.destroy()
    }, 10)
    let closed: "closed" | "open" = "closed"
    socket.on("error", () => undefined)
    socket.on("close", () => {
      clearInterval(look)
      if (isEnough() && requests <= 8) closed = "open"
      resume(Effect.succeed(closed))
    })
  })

it.scopedLive("[W1] one connection has eight requests under way at most, and is cut off with more", () =>
  Effect.gen(function* () {
    const { port, taken } = yield* unanswering
    expect(yield* pipeline(port, 1_000, () => false)).toBe("closed")
    expect(taken.count).toBe(8)
    expect(yield* pipeline(port, 8, () => taken.count === 16)).toBe("open")
  }),
)

it.live(
  "a connection that is gone keeps nothing under way: the listener waits for none of its requests",
  () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { port, taken } = yield* Scope.extend(unanswering, scope)
      yield* pipeline(port, 3, () => taken.count === 3)
      yield* Scope.close(scope, Exit.void)
    }),
)
