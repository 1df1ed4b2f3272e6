/** Servers of a test's own on loopback, at a port that the system gives. */
import { createServer, type Server } from "node:net"
import { Effect, type Scope } from "effect"

interface Listener extends Server {
  readonly closeAllConnections?: () => void
}

/** Listens until the scope closes, and then cuts the remaining connections. Answers the port. */
export const listenOn = (server: Listener): Effect.Effect<number, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.async<number>((resume) => {
      // Where a test takes a connection over, as a proxy does, and the other side resets it, nobody else listens.
      server.on("connection", (socket) => socket.on("error", () => undefined))
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
      })
    }),
    () =>
      Effect.sync(() => {
        server.closeAllConnections?.()
        server.close()
      }),
  )

/** Below the ports that systems assign by themselves, which another test could get before this one listens. */
const ownPorts = { from: 20_000, to: 32_000 }

/** A port that nothing listens at. */
export const freePort: Effect.Effect<number> = Effect.suspend(() => {
  const port = ownPorts.from + Math.floor(Math.random() * (ownPorts.to - ownPorts.from))
  const probe = createServer()
  return Effect.async<number>((resume) => {
    probe.once("error", () => resume(freePort))
    probe.listen(port, "127.0.0.1", () => probe.close(() => resume(Effect.succeed(port))))
  })
})
