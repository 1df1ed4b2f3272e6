import { Counters } from "./Sandbox/Http/Control.ts"
import { Faults } from "./Sandbox/Http/Faults.ts"
import { makeServer } from "./Sandbox/Http/SandboxServer.ts"
import { readOptions, SandboxError, type SandboxOptions } from "./Sandbox/SandboxOptions.ts"
import { Webhooks } from "./Sandbox/Webhooks.ts"
import { Credit } from "./Sandbox/World/CreditLine.ts"
import { Identifiers } from "./Sandbox/World/Identifier.ts"
import { Movements } from "./Sandbox/World/Movement.ts"
import { Clients } from "./Sandbox/World/RepresentedClients.ts"
import { Rate } from "./Sandbox/World/SandboxRate.ts"
import { World } from "./Sandbox/World/World.ts"

/** A running sandbox. */
export interface Sandbox {
  /** The base URL of the service, ending in its base path (`/api/v1`). */
  readonly url: string
  /** Where `/control/…` lives: scheme, host and port. */
  readonly origin: string
  readonly port: number
  /** Lets that many more movements happen in the organization, or to the active client with that index. */
  readonly advance: (movements: number, client?: number) => void
  /** Stops listening and cuts all connections. */
  readonly close: () => Promise<void>
}

const whyNot: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program listens there: stop it, or choose another --port",
  EACCES: "this user may not use that port: choose a --port from 1024 on",
}

/**
 * Starts a fake of the partner service, written from `docs/interface.md` alone: its surfaces over real
 * HTTP, with data that depends only on the options.
 *
 * @throws SandboxError with reason `Options` for bad values, `Listen` if the port cannot be opened.
 */
export const startSandbox = async (options: SandboxOptions = {}): Promise<Sandbox> => {
  const { data, service } = readOptions(options)
  const world = new World(data)
  const movements = new Movements(world)
  movements.generate()
  const clients = new Clients(data, service.wire)
  const credit = new Credit(world, clients, data)
  const faults = new Faults(data.seed, service.now, service.faults)
  const webhooks = new Webhooks(data.seed, new Identifiers(data.seed), service.webhook)
  const rate = new Rate((count) => webhooks.during(world, undefined, () => movements.advance(count)))
  const controlled = { webhooks, rate, world, movements, clients, credit, faults, counters: new Counters() }
  const server = makeServer(controlled, service, data)
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => {
      const code = "code" in cause ? String(cause.code) : cause.name
      const message = `The sandbox cannot listen on ${service.host}:${service.port}: ${whyNot[code] ?? cause.message} [${code}].`
      reject(new SandboxError({ reason: "Listen", message, problems: [message] }))
    })
    server.listen(service.port, service.host, resolve)
  })
  rate.set(service.rate)
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : service.port
  const origin = `http://${service.host.includes(":") ? `[${service.host}]` : service.host}:${port}`
  return {
    url: `${origin}${service.wire.basePath}`,
    origin,
    port,
    advance: (count, client) => {
      const acting = client === undefined ? { world, movements } : clients.world(client)
      const id = client === undefined ? undefined : clients.idOf(client)
      if (acting !== undefined) webhooks.during(acting.world, id, () => acting.movements.advance(count))
    },
    close: () =>
      new Promise((resolve) => {
        rate.set(0)
        webhooks.close()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
