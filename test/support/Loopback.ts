/** Servers of a test's own on loopback, at a port that the system gives. */
import { createServer, type Server } from "node:net"
import { Effect, type Scope } from "effect"

interface Listener extends Server {
  readonly closeAllConnections?: () => void
}

/** Listens until the scope closes, and cuts then what is still connected. Gives the port. */
export const listenOn = (server: Listener): Effect.Effect<number, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.async<number>((resume) => {
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

/** A port that nothing listens at. */
export const freePort: Effect.Effect<number> = Effect.suspend(() => {
  const server = createServer()
  return Effect.zipLeft(
    Effect.scoped(listenOn(server)),
    Effect.async<void>((resume) => {
      if (server.listening) server.once("close", () => resume(Effect.void))
      else resume(Effect.void)
    }),
  )
})
