import type { Webhooks } from "../Webhooks.ts"
import { destinationStatuses } from "../World/AddressBook.ts"
import type { Credit } from "../World/CreditLine.ts"
import type { Movements } from "../World/Movement.ts"
import type { Clients } from "../World/RepresentedClients.ts"
import { printAmount } from "../World/SandboxCurrency.ts"
import type { Rate } from "../World/SandboxRate.ts"
import { destinationsPerAccount, type World } from "../World/World.ts"
import { Busiest } from "./Busiest.ts"
import { controlReceivables } from "./CreditControl.ts"
import { readFaults } from "./FaultPlan.ts"
import type { Faults } from "./Faults.ts"
import { failure, json, type Reply } from "./SandboxReply.ts"

/** Tenths of a second that are counted: an hour, so that a sandbox that runs for months does not grow. */
const mostTenths = 36_000

/** How often, and how closely, each operation was asked for, and how often each status was answered, since the last reset. */
export class Counters {
  requests: Record<string, number> = {}
  answers: Record<string, number> = {}
  readonly busiest = new Busiest()
  #began = performance.now()
  #tenths: Array<number> = []

  request(endpoint: string): void {
    this.requests[endpoint] = (this.requests[endpoint] ?? 0) + 1
    this.busiest.arrive(performance.now())
    const at = Math.floor((performance.now() - this.#began) / 100)
    if (at >= mostTenths) return
    while (this.#tenths.length <= at) this.#tenths.push(0)
    this.#tenths[at] = (this.#tenths[at] ?? 0) + 1
  }

  /** Requests in each tenth of a second of the first hour since the last reset, up to the last request. */
  get tenths(): ReadonlyArray<number> {
    return this.#tenths
  }

  answer(status: number): void {
    this.answers[status] = (this.answers[status] ?? 0) + 1
  }

  reset(): void {
    this.requests = {}
    this.answers = {}
    this.busiest.reset()
    this.#began = performance.now()
    this.#tenths = []
  }
}

/** The state of a world that a test can read beyond what is served. */
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
  readonly faults: Faults
  readonly counters: Counters
  readonly webhooks: Webhooks
  readonly rate: Rate
}

type Command = (query: URLSearchParams) => Reply

/** Makes the answers below /control: what lets a test drive and check the sandbox. No token is needed. */
export const control = (controlled: Controlled) => {
  const { world, movements, clients, credit, faults, counters, webhooks, rate } = controlled
  /** What the query's client has, or the organization has if it names none. */
  const chosen = (query: URLSearchParams) => {
    const client = query.get("client")
    if (client === null) return { world, movements, client: undefined }
    if (!/^(0|[1-9]\d{0,5})$/.test(client)) return undefined
    const index = Number(client)
    const found = clients.world(index)
    return found === undefined ? undefined : { ...found, client: clients.idOf(index) }
  }
  const noClient = failure(400, "invalid_request", "client must be the index of an active client, from 0")

  const state: Command = (query) => {
    const target = chosen(query)
    if (target === undefined) return noClient
    const { requests, answers, busiest } = counters
    const totals = {
      busiest: busiest.most,
      faults: faults.counts,
      clients: clients.size,
      receivables: credit.size,
      webhooks: webhooks.state,
      rate: rate.perSecond,
    }
    return json(200, JSON.stringify({ requests, answers, ...totals, ...stateOf(target.world) }))
  }
  const resetCounters: Command = () => {
    counters.reset()
    faults.reset()
    return json(200, JSON.stringify({ reset: true }))
  }
  const advance: Command = (query) => {
    const asked = query.get("movements") ?? ""
    if (!/^[1-9]\d{0,6}$/.test(asked)) {
      return failure(400, "invalid_request", "movements must be a whole number from 1 to 9999999")
    }
    const days = query.get("late") ?? "0"
    if (!/^(?:0|[1-9]\d{0,2})$/.test(days)) {
      return failure(400, "invalid_request", "late must be a whole number of days, at most 999")
    }
    const target = chosen(query)
    if (target === undefined) return noClient
    const before = target.world.entries.account.size
    target.world.lateBy = Number(days) * 86_400_000
    webhooks.during(target.world, target.client, () => target.movements.advance(Number(asked)))
    target.world.lateBy = 0
    const entries = target.world.entries.account.size - before
    return json(200, JSON.stringify({ movements: Number(asked), entries }))
  }
  const showFaults = () => json(200, JSON.stringify({ faults: faults.plan, happened: faults.counts }))
  const setFaults: Command = (query) => {
    const plan = readFaults(query.get("set") ?? "?")
    if (typeof plan === "string") return failure(400, "invalid_request", `set: ${plan}`)
    faults.set(plan)
    return showFaults()
  }

  const showWebhooks = () => json(200, JSON.stringify(webhooks.state))
  const setWebhooks: Command = (query) => {
    const wrong = webhooks.set(query.get("set") ?? "?")
    return wrong === undefined ? showWebhooks() : failure(400, "invalid_request", `set: ${wrong}`)
  }
  const setRate: Command = (query) => {
    const asked = query.get("movements") ?? ""
    if (!/^(?:0|[1-9]\d{0,2}|1000)$/.test(asked)) {
      return failure(400, "invalid_request", "movements must be a whole number from 0 to 1000")
    }
    rate.set(Number(asked))
    return json(200, JSON.stringify({ rate: rate.perSecond }))
  }

  const review: Command = (query) => {
    const target = chosen(query)
    if (target === undefined) return noClient
    const index = query.get("index") ?? ""
    const count = target.world.accounts.length * destinationsPerAccount
    const status = destinationStatuses.find((one) => one === query.get("to"))
    if (!/^(0|[1-9]\d{0,6})$/.test(index) || Number(index) >= count || status === undefined) {
      const expected = `index must be below ${count}, to one of ${destinationStatuses.join(", ")}`
      return failure(400, "invalid_request", expected)
    }
    webhooks.review(target.world, target.client, Number(index), status)
    return json(
      200,
      JSON.stringify({ destinationId: target.world.ids.of("destination", Number(index)), status }),
    )
  }

  const get = (answer: Command): Readonly<Record<string, Command>> => ({ GET: answer })
  const post = (answer: Command): Readonly<Record<string, Command>> => ({ POST: answer })
  const routes: Readonly<Record<string, Readonly<Record<string, Command>>>> = {
    "/control/state": get(state),
    "/control/requests": get(() => json(200, JSON.stringify({ tenths: counters.tenths }))),
    "/control/reset-counters": post(resetCounters),
    "/control/receivables": post((query) => controlReceivables(credit, query)),
    "/control/faults": { GET: showFaults, POST: setFaults },
    "/control/advance": post(advance),
    "/control/webhooks": { GET: showWebhooks, POST: setWebhooks },
    "/control/webhooks/rotate": post(() => json(200, JSON.stringify({ publicKeyId: webhooks.rotate() }))),
    "/control/rate": post(setRate),
    "/control/destinations": post(review),
  }
  return (method: string, path: string, query: string): Reply => {
    const route = routes[path]
    if (route === undefined) return failure(404, "not_found", `there is no ${path}`)
    const answer = route[method]
    if (answer !== undefined) return answer(new URLSearchParams(query))
    const allow = Object.keys(route).join(", ")
    return failure(405, "method_not_allowed", `${path} takes ${allow}`, { allow })
  }
}
