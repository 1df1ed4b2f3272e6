import { createServer } from "node:net"
import { expect, it } from "@effect/vitest"
import { Effect, Either, Option, Redacted } from "effect"
import { Database } from "../../src/Database.ts"
import { listenOn } from "../support/Loopback.ts"

it.scopedLive(
  "a server without TLS is not believed where TLS is asked for, and the error says how to do without",
  () =>
    Effect.gen(function* () {
      let spoken = ""
      const server = createServer((socket) => {
        socket.on("error", () => undefined)
        socket.once("data", () => {
          // As Postgres does: "N", and then it takes what follows for a startup packet.
          socket.write("N")
          socket.on("data", (bytes) => {
            spoken += bytes.toString("latin1")
            socket.destroy()
          })
        })
      })
      const port = yield* listenOn(server)
      const url = Redacted.make(`postgres://me:s3cret@127.0.0.1:${port}/books?sslmode=verify-full`)
      const opened = yield* Effect.either(
        Effect.provide(Database, Database.layer({ url: Option.some(url), dataDir: "unused" })),
      )
      const error = Either.getOrThrow(Either.flip(opened))
      expect(error.reason).toBe("Unreachable")
      expect(error.message).toContain("say sslmode=disable in DATABASE_URL")
      expect(error.message).not.toContain("s3cret")
      expect(spoken).not.toContain("me")
    }),
)
