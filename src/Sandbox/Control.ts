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

const state = (world: World, counters: Counters): string =>
  JSON.stringify({
    requests: counters.requests,
    answers: counters.answers,
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

/** Makes the answers below /control: what lets a test drive and check the sandbox. No token is needed. */
export const control = (world: World, movements: Movements, counters: Counters) => {
  const routes: Record<string, { method: string; answer: (query: URLSearchParams) => Reply }> = {
    "/control/state": { method: "GET", answer: () => json(200, state(world, counters)) },
    "/control/reset-counters": {
      method: "POST",
      answer: () => {
        counters.reset()
        return json(200, JSON.stringify({ reset: true }))
      },
    },
    "/control/advance": {
      method: "POST",
      answer: (query) => {
        const asked = query.get("movements") ?? ""
        if (!/^[1-9]\d{0,6}$/.test(asked)) {
          return failure(400, "invalid_request", "movements must be a whole number from 1 to 9999999")
        }
        const before = world.entries.account.size
        movements.advance(Number(asked))
        return json(
          200,
          JSON.stringify({ movements: Number(asked), entries: world.entries.account.size - before }),
        )
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
