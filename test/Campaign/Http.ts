/** Serves the world on loopback with the paths and JSON that `docs/interface.md` has as defaults. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { Effect } from "effect"
import type { Database } from "../../src/Database.ts"
import { listenOn } from "../support/Loopback.ts"
import type { BookName, History } from "./History.ts"
import * as Lists from "./Lists.ts"
import { type How, type Played, play } from "./Play.ts"
import type { World } from "./World.ts"

const statusOf = { NotFound: 404, Forbidden: 403, CursorExpired: 410 } as const

/** The status of a fault on the wire; null where the connection breaks. */
const faultStatus: Readonly<Record<string, number>> = {
  Unavailable: 503,
  RateLimited: 429,
  Unauthorized: 401,
  BadResponse: 200,
}

type Answer = object | Lists.Refusal

const sent = (found: Lists.Item | Lists.Refusal): Answer => (typeof found === "string" ? found : found.json)

const listed = (
  world: World,
  stream: string,
  items: ReadonlyArray<Lists.Item> | Lists.Refusal,
  query: URLSearchParams,
): Answer => {
  if (typeof items === "string") return items
  const page = Lists.page(world, stream, items, query.get("after"))
  if (typeof page === "string") return page
  const { endCursor, hasNextPage } = page
  return {
    items: page.items.map(({ json }) => json),
    pageInfo: { hasNextPage, ...(endCursor === null ? {} : { endCursor }) },
  }
}

const types = { deposits: "DEPOSIT", withdrawals: "WITHDRAWAL", conversions: "CONVERSION" } as const
const isType = (text: string): text is keyof typeof types => Object.hasOwn(types, text)

const inBook = (
  world: World,
  book: BookName,
  [what = "", id, more]: ReadonlyArray<string>,
  query: URLSearchParams,
): Answer => {
  if (what === "accounts") {
    if (id === undefined) {
      const client = world.clients.get(book)
      if (client?.access === "forbidden") return "Forbidden"
      return client?.access === "gone"
        ? "NotFound"
        : listed(world, `${book} accounts`, Lists.accounts(world, book), query)
    }
    if (more === undefined) return sent(Lists.account(world, book, id))
    return more === "statement"
      ? listed(world, `${book} statement ${id}`, Lists.statement(world, book, id), query)
      : "NotFound"
  }
  if (!isType(what)) return "NotFound"
  const type = types[what]
  if (id !== undefined) return sent(Lists.resource(world, book, type, id))
  // There is no list of conversions, and the client surface has no lists of resources.
  return book === "org" && type !== "CONVERSION"
    ? listed(world, `${book} ${type}`, Lists.resources(world, book, type), query)
    : "NotFound"
}

const answerOf = (world: World, path: ReadonlyArray<string>, query: URLSearchParams): Answer => {
  const [what = "", id, ...more] = path
  if (what === "clients" && id !== undefined) {
    const client = [...world.clients.values()].find((one) => one.id === id)
    return client === undefined ? "NotFound" : inBook(world, client.name, more, query)
  }
  if (what === "clients") return listed(world, "org clients", Lists.clients(world), query)
  if (what === "receivables") return listed(world, "org receivables", Lists.receivables(world), query)
  if (what === "credit-accounts")
    return listed(world, "org credit-accounts", Lists.creditAccounts(world), query)
  if (what === "conversion-pairs" || what === "destinations") return listed(world, `org ${what}`, [], query)
  if (what === "settings") return listed(world, `org ${what}`, [], query)
  return inBook(world, "org", path, query)
}

const reply = (response: ServerResponse, world: World, status: number, body: string): void => {
  response.writeHead(status, { "content-type": "application/json", date: new Date(world.now).toUTCString() })
  response.end(body)
}

const handle = (world: World, request: IncomingMessage, response: ServerResponse): void => {
  const url = new URL(request.url ?? "/", "http://loopback")
  const path = url.pathname.split("/").filter((part) => part !== "")
  if (path[0] === "oauth") {
    const token = {
      token_type: "Bearer",
      expires_in: 31_536_000,
      scope: "accounts:read",
      access_token: "token",
    }
    reply(response, world, 200, JSON.stringify(token))
    return
  }
  const fault = world.faultNow()
  if (fault !== undefined) {
    const status = faultStatus[fault.reason]
    if (status === undefined) response.destroy()
    else reply(response, world, status, status === 200 ? "<html>" : "{}")
    return
  }
  const answer = answerOf(world, path, url.searchParams)
  if (typeof answer !== "string") reply(response, world, 200, JSON.stringify(answer))
  else reply(response, world, statusOf[answer], JSON.stringify({ code: answer }))
}

/** Serves a world until the scope ends, and answers its base address. */
const served = (worldOf: () => World | undefined) => {
  const server = createServer((request, response) => {
    request.resume()
    const world = worldOf()
    if (world === undefined) response.destroy()
    else handle(world, request, response)
  })
  return Effect.map(listenOn(server), (port) => ({ url: `http://127.0.0.1:${port}` }))
}

/** Plays a history whose service is read over HTTP. */
export const overHttp = (history: History, how: Omit<How, "http">): Effect.Effect<Played, never, Database> =>
  Effect.gen(function* () {
    let world: World | undefined
    const { url } = yield* served(() => world)
    const show = (made: World): void => {
      world = made
    }
    return yield* play(history, { ...how, http: { url, show } })
  }).pipe(Effect.scoped)
