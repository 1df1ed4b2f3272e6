import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { type Controlled, control } from "./Control.ts"
import type { SandboxService } from "./Options.ts"
import { pager } from "./Paging.ts"
import { failure, type Reply } from "./Reply.ts"
import { surface } from "./Surface.ts"
import { Tokens } from "./Tokens.ts"
import { type ResourceRoute, router } from "./Wire.ts"

/** A token request is a few hundred bytes; more is refused before it is kept. */
const largestBody = 16_384

const send = (response: ServerResponse, { status, body, headers }: Reply): void => {
  const bytes = Buffer.from(body)
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "content-length": bytes.length,
    ...headers,
  })
  response.end(bytes)
}

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

/** Makes the function that answers what a route asks for, once its token is accepted. */
const operations = ({ world, clients, credit }: Controlled, { wire }: SandboxService, created: number) => {
  const organization = surface(world, wire, created, { name: "Sandbox Organization, Ltd.", flat: false })
  const page = pager(wire)
  return (route: ResourceRoute, query: string): Reply => {
    if (route.client !== undefined) {
      const index = clients.indexOf(route.client)
      if (index === undefined) return failure(404, "not_found", `there is no client ${route.client}`)
      const client = clients.world(index)
      if (client !== undefined) return client.answer(route.endpoint, route.id, query)
      return failure(403, "client_not_active", `the client ${route.client} is ${clients.status(index)}`)
    }
    switch (route.endpoint) {
      case "clients":
        return page({ name: "clients", size: clients.size, render: (index) => clients.render(index) }, query)
      case "paymentRails":
        return page(credit.paymentRails(), query)
      case "receivables":
        return page(credit.receivables(), query)
      case "creditAccounts":
        return page(credit.creditAccounts(), query)
      default:
        return organization(route.endpoint, route.id, query)
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
  const { counters } = controlled
  const match = router(wire)
  const tokens = new Tokens(service, data.seed)
  const answer = operations(controlled, service, data.start)
  const command = control(controlled)

  const reply = (request: IncomingMessage): Reply | Promise<Reply> => {
    const target = request.url ?? "/"
    const mark = target.indexOf("?")
    const path = mark < 0 ? target : target.slice(0, mark)
    const query = mark < 0 ? "" : target.slice(mark + 1)
    const method = request.method ?? ""
    if (path.startsWith("/control/")) return command(method, path, query)
    const route = path.startsWith(`${wire.basePath}/`) ? match(path.slice(wire.basePath.length)) : undefined
    const counted = route?.client === undefined ? route?.endpoint : `client.${route.endpoint}`
    counters.request(counted ?? "unknown")
    if (route === undefined) return failure(404, "not_found", `there is no ${path}`)
    const allow = route.endpoint === "token" ? "POST" : "GET"
    if (method !== allow) return failure(405, "method_not_allowed", `${path} takes ${allow}`, { allow })
    if (route.endpoint === "token") {
      return readBody(request).then((body) =>
        body === undefined
          ? failure(413, "too_large", `a token request has at most ${largestBody} bytes`, {
              connection: "close",
            })
          : tokens.issue(request.headers, body),
      )
    }
    if (!tokens.accepts(request.headers.authorization)) {
      const message = "the access token is missing, unknown or expired"
      return failure(401, "invalid_token", message, { "www-authenticate": "Bearer" })
    }
    return answer(route, query)
  }

  const finish = (response: ServerResponse, made: Reply): void => {
    // Driving the sandbox does not count as using the service.
    if (!response.req.url?.startsWith("/control/")) counters.answer(made.status)
    send(response, made)
  }
  const broken = (response: ServerResponse, cause: unknown): void =>
    finish(response, failure(500, "internal_error", String(cause)))

  const server = createServer((request, response) => {
    try {
      const made = reply(request)
      if (made instanceof Promise) {
        made.then(
          (value) => finish(response, value),
          (cause) => broken(response, cause),
        )
      } else finish(response, made)
    } catch (cause) {
      broken(response, cause)
    }
  })
  // Long enough that a client's pool finds its connections again between two phases of its work.
  server.keepAliveTimeout = 120_000
  return server
}
