import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { setTimeout } from "node:timers/promises"
import type { SandboxService } from "../SandboxOptions.ts"
import { send } from "../Sending.ts"
import { type Controlled, control } from "./Control.ts"
import type { Fault } from "./Faults.ts"
import { type Asked, pager } from "./Pages.ts"
import { failure, type Reply } from "./SandboxReply.ts"
import { surface } from "./Surface.ts"
import { Tokens } from "./Tokens.ts"
import { type ResourceRoute, router } from "./Wire.ts"

/** A token request is a few hundred bytes; more is refused before it is kept. */
const largestBody = 16_384

const readBody = async (request: IncomingMessage): Promise<string | undefined> => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  for await (const chunk of request) {
    if (!(chunk instanceof Uint8Array)) return undefined
    size += chunk.length
    if (size > largestBody) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

interface Target {
  readonly whole: string
  readonly path: string
  readonly query: string
}

const targetOf = ({ url: whole = "/" }: IncomingMessage): Target => {
  const mark = whole.indexOf("?")
  return mark < 0
    ? { whole, path: whole, query: "" }
    : { whole, path: whole.slice(0, mark), query: whole.slice(mark + 1) }
}

const issue = async (tokens: Tokens, request: IncomingMessage): Promise<Reply> => {
  const body = await readBody(request)
  if (body !== undefined) return tokens.issue(request.headers, body)
  const message = `a token request has at most ${largestBody} bytes`
  return failure(413, "too_large", message, { connection: "close" })
}

/** Makes the function that answers what a route asks for, once its token is accepted. */
const operations = (
  { world, clients, credit, webhooks }: Controlled,
  { wire }: SandboxService,
  created: number,
) => {
  const organization = surface(world, wire, created, { name: "Sandbox Organization, Ltd.", flat: false }, "")
  const page = pager(wire)
  return (route: ResourceRoute, asked: Asked): Reply => {
    if (route.client !== undefined) {
      const index = clients.indexOf(route.client)
      if (index === undefined) return failure(404, "not_found", `there is no client ${route.client}`)
      const client = clients.world(index)
      if (client !== undefined) return client.answer(route.endpoint, route.id, asked)
      return failure(403, "client_not_active", `the client ${route.client} is ${clients.status(index)}`)
    }
    switch (route.endpoint) {
      case "clients":
        return page({ name: "clients", size: clients.size, render: (index) => clients.render(index) }, asked)
      case "publicKeys": {
        const keys = webhooks.renderKeys(new Date(created).toISOString())
        return page({ name: "publicKeys", size: keys.length, render: (index) => keys[index] ?? "" }, asked)
      }
      case "paymentRails":
        return page(credit.paymentRails(), asked)
      case "receivables":
        return page(credit.receivables(), asked)
      case "creditAccounts":
        return page(credit.creditAccounts(), asked)
      default:
        return organization(route.endpoint, route.id, asked)
    }
  }
}

/** Makes the HTTP server of a sandbox. Every answer is made as a value first and sent in one place. */
export const makeServer = (
  controlled: Controlled,
  service: SandboxService,
  data: { readonly seed: number; readonly start: number },
): Server => {
  const { wire } = service
  const { counters, faults } = controlled
  const match = router(wire)
  const tokens = new Tokens(service, data.seed)
  const answer = operations(controlled, service, data.start)
  const command = control(controlled)

  const reply = (request: IncomingMessage, target: Target, fault: Fault | undefined) => {
    const { path, query } = target
    const route = path.startsWith(`${wire.basePath}/`) ? match(path.slice(wire.basePath.length)) : undefined
    const counted = route?.client === undefined ? route?.endpoint : `client.${route.endpoint}`
    counters.request(counted ?? "unknown")
    const refused = faults.limit() ?? (fault === undefined ? undefined : faults.instead(fault, target.whole))
    if (refused !== undefined) return refused
    if (route === undefined) return failure(404, "not_found", `there is no ${path}`)
    const allow = route.endpoint === "token" ? "POST" : "GET"
    if (request.method !== allow) {
      return failure(405, "method_not_allowed", `${path} takes ${allow}`, { allow })
    }
    if (route.endpoint === "token") return issue(tokens, request)
    if (faults.expiresTokens(fault)) tokens.forget()
    if (!tokens.accepts(request.headers.authorization)) {
      const message = "the access token is missing, unknown or expired"
      return failure(401, "invalid_token", message, { "www-authenticate": "Bearer" })
    }
    if (new URLSearchParams(query).has(wire.cursorParam) && faults.expiresCursor(fault, path)) {
      return failure(410, "cursor_expired", `${wire.cursorParam} is a cursor that has expired`)
    }
    return answer(route, { query, twist: faults.twist(fault) })
  }

  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const target = targetOf(request)
    // Driving the sandbox does not count as using the service, and nothing goes wrong with it.
    const driving = target.path.startsWith("/control/")
    const fault = driving ? undefined : faults.next()
    const made = driving
      ? command(request.method ?? "", target.path, target.query)
      : await reply(request, target, fault)
    if (!driving) {
      counters.answer(made.status)
      if (service.latency > 0) await setTimeout(service.latency)
    }
    send(response, made, made.status === 429 ? undefined : fault, faults)
  }

  const server = createServer((request, response) => {
    respond(request, response).catch((cause: unknown) => {
      counters.answer(500)
      send(response, failure(500, "internal_error", String(cause)), undefined, faults)
    })
  })
  // Long enough that a client's pool finds its connections again between two phases of its work.
  server.keepAliveTimeout = 120_000
  return server
}
