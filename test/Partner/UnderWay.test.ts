/** What a process holds of answers that are not whole yet, over all its connections. */
import { createServer, type Server, type ServerResponse } from "node:http"
import { it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { describe, expect } from "vitest"
import { bounds } from "../../src/Partner/ServiceLimits.ts"
import { make, type Transport } from "../../src/Partner/Transport.ts"
import { TransportFault } from "../../src/Partner/TransportFault.ts"
import { Limits } from "../../src/Settings/Limits.ts"

const most = 1_000
const limits = bounds({ ...Schema.decodeUnknownSync(Limits)({}), maxBodyBytes: most })

/** Answers of `most` bytes that lack their last one until they are ended. */
const almostWhole = Effect.acquireRelease(
  Effect.async<{
    readonly server: Server
    readonly origin: string
    readonly answers: Array<ServerResponse>
  }>((resume) => {
    const answers: Array<ServerResponse> = []
    const server = createServer((_, response) => {
      response.writeHead(200, { "content-length": String(most) })
      response.write("x".repeat(most - 1), () => void answers.push(response))
    })
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      if (address === null || typeof address === "string") throw new Error("no port")
      resume(Effect.succeed({ server, origin: `http://127.0.0.1:${address.port}`, answers }))
    })
  }),
  ({ server }) =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    }),
)

const ask = (transport: Transport) =>
  Effect.async<string>((resume) => {
    const stop = transport.send({ method: "GET", path: "/", headers: {} }, (result) => {
      if (!(result instanceof TransportFault)) result.release()
      resume(Effect.succeed(result instanceof TransportFault ? result.kind : "whole"))
    })
    return Effect.sync(stop)
  })

describe("answers under way", () => {
  it.scopedLive("share one budget, whatever connections a process has", () =>
    Effect.gen(function* () {
      const { answers, origin } = yield* almostWhole
      const [one, two] = [yield* make(origin, limits), yield* make(origin, limits)]
      const held = yield* Effect.forEach([one, one, two, two], (transport) => Effect.fork(ask(transport)))
      yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => answers.length === 4 })
      expect(yield* ask(two)).toBe("crowded")
      for (const answer of answers) if (!answer.writableEnded) answer.end("x")
      expect(yield* Effect.forEach(held, (fiber) => fiber.await)).toHaveLength(4)
      const after = yield* Effect.fork(ask(one))
      yield* Effect.repeat(Effect.sleep("10 millis"), {
        until: () => answers.some((answer) => !answer.writableEnded),
      })
      for (const answer of answers) if (!answer.writableEnded) answer.end("x")
      expect(yield* after.await).toMatchObject({ value: "whole" })
    }),
  )
})
