import type { Clients } from "./Clients.ts"
import type { Credit } from "./Credit.ts"
import { controlReceivables } from "./CreditControl.ts"
import { printAmount } from "./Currency.ts"
import type { Movements } from "./Movement.ts"
import { failure, json, type Reply } from "./Reply.ts"
import type { World } from "./World.ts"

/** How often each operation was asked for, and how often each status was answered, since the last reset. */
export class Counters {
  requests: Record<string, number> = {}
  answers: Record<string, number> = {}

  request(endpoint: string): void {
    this.requests[endpoint] = (this.requests[endpoint] ?? 0) + 1
  }

  answer(status: number): void {
    this.answers[status] = (this.answers[status] ?? 0) + 1
  }

  reset(): void {
    this.requests = {}
    this.answers = {}
  }
}

/** What a test can know of a world beyond what is served. */
const stateOf = (world: World) => ({
  movements: world.movements,
  unfinished: world.later.size,
  entries: world.entries.account.size,
  deposits: world.deposits.account.size,
  withdrawals: world.withdrawals.account.size,
  conversions: world.conversions.pair.size,
  conversionIds: world.conversions.pair.size > 100_000 ? undefined : allConversions(world),
  accounts: world.accounts.map((account) => ({
    accountId: account.id,
    currency: account.currency.code,
    status: account.status,
    entries: account.entries.size,
    openingBalance: printAmount(account.entries.size === 0 ? 0n : account.opening, account.currency),
    balance: printAmount(account.balance, account.currency),
  })),
})

/** The surface has no list of conversions; a test may still want the ones without an entry. */
const allConversions = (world: World): ReadonlyArray<string> =>
  Array.from({ length: world.conversions.pair.size }, (_, index) => world.ids.of("conversion", index))

/** All that can be driven and looked at. */
export interface Controlled {
  readonly world: World
  readonly movements: Movements
  readonly clients: Clients
  readonly credit: Credit
  readonly counters: Counters
}

type Command = (query: URLSearchParams) => Reply

/** Makes the answers below /control: what lets a test drive and check the sandbox. No token is needed. */
export const control = ({ world, movements, clients, credit, counters }: Controlled) => {
  /** What the query's client has, or the organization has if it names none. */
  const chosen = (query: URLSearchParams) => {
    const client = query.get("client")
    if (client === null) return { world, movements }
    return /^(0|[1-9]\d{0,5})$/.test(client) ? clients.world(Number(client)) : undefined
  }
  const noClient = failure(400, "invalid_request", "client must be the index of an active client, from 0")

  const routes: Record<string, { method: string; answer: Command }> = {
    "/control/state": {
      method: "GET",
      answer: (query) => {
        const of = chosen(query)
        if (of === undefined) return noClient
        const { requests, answers } = counters
        const totals = { clients: clients.size, receivables: credit.size }
        return json(200, JSON.stringify({ requests, answers, ...totals, ...stateOf(of.world) }))
      },
    },
    "/control/reset-counters": {
      method: "POST",
      answer: () => {
        counters.reset()
        return json(200, JSON.stringify({ reset: true }))
      },
    },
    "/control/receivables": { method: "POST", answer: (query) => controlReceivables(credit, query) },
    "/control/advance": {
      method: "POST",
      answer: (query) => {
        const asked = query.get("movements") ?? ""
        if (!/^[1-9]\d{0,6}$/.test(asked)) {
          return failure(400, "invalid_request", "movements must be a whole number from 1 to 9999999")
        }
        const of = chosen(query)
        if (of === undefined) return noClient
        const before = of.world.entries.account.size
        of.movements.advance(Number(asked))
        const entries = of.world.entries.account.size - before
        return json(200, JSON.stringify({ movements: Number(asked), entries }))
      },
    },
  }
  return (method: string, path: string, query: string): Reply => {
    const route = routes[path]
    if (route === undefined) return failure(404, "not_found", `there is no ${path}`)
    if (route.method !== method) {
      return failure(405, "method_not_allowed", `${path} takes ${route.method}`, { allow: route.method })
    }
    return route.answer(new URLSearchParams(query))
  }
}
