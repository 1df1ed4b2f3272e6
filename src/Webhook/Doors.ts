/**
 * Listening servers that outlive the settings: when they are read again, a new listener takes over the server at its address
 * with everything that is connected, so that no delivery finds the port closed.
 */
import type { RequestListener, Server } from "node:http"
import type { HttpServer } from "@effect/platform"
import type { ServeError } from "@effect/platform/HttpServerError"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Effect, Exit, Scope } from "effect"

/** A server that listens, and who answers its requests. */
export interface Door {
  readonly server: Server
  readonly address: HttpServer.Address
  /** Sets who answers requests from now on; requests in flight stay with the listener that took them. */
  answer: RequestListener | undefined
  /** Closes the server's own scope. */
  readonly close: Effect.Effect<void>
}

export type Doors = Map<string, Door>

/** The doors that may be taken over; null: every listener has one of its own. */
export class OpenDoors extends Context.Reference<OpenDoors>()("tieout/Webhook/OpenDoors", {
  defaultValue: (): Doors | null => null,
}) {}

const openDoor = Effect.fn("Webhook.openDoor")(function* (host: string, port: number, make: () => Server) {
  const scope = yield* Scope.make()
  const server = make()
  const http = yield* NodeHttpServer.make(() => server, { host, port }).pipe(
    Scope.extend(scope),
    Effect.tapError(() => Scope.close(scope, Exit.void)),
  )
  const door: Door = {
    server,
    address: http.address,
    answer: undefined,
    close: Scope.close(scope, Exit.void),
  }
  server.on("request", (message, response) => {
    if (door.answer === undefined) response.destroy()
    else door.answer(message, response)
  })
  return door
})

/** The door at an address: the one that is open there, or a new one. */
export const doorAt = (
  doors: Doors | null,
  { host, port }: { readonly host: string; readonly port: number },
  make: () => Server,
): Effect.Effect<Door, ServeError> =>
  Effect.suspend(() => {
    const key = `${host} ${port}`
    const known = doors?.get(key)
    return known === undefined
      ? Effect.tap(openDoor(host, port, make), (door) => Effect.sync(() => doors?.set(key, door)))
      : Effect.succeed(known)
  })

/** Forgets a door that is about to close, so that nobody takes it over. */
export const leave = (doors: Doors | null, door: Door): void => {
  for (const [key, one] of doors ?? []) if (one === door) doors?.delete(key)
}
