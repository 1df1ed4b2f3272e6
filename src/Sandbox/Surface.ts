import { depositInstructions, destination, type Owner } from "./AddressBook.ts"
import { flatForm, moneyForm } from "./Form.ts"
import type { IdentifierKind } from "./Identifier.ts"
import { type Listing, pager } from "./Paging.ts"
import { Render } from "./Render.ts"
import { failure, json, type Reply } from "./Reply.ts"
import type { ClientEndpoint, Wire } from "./Wire.ts"
import { destinationsPerAccount, type World } from "./World.ts"

const endpoints = ["https://hooks.example.test/tieout", "https://backup.example.test/hooks?tenant=1"]

/** Answers the operations on the resources of one world. */
export type Surface = (endpoint: ClientEndpoint | "subscriptions", id: string, query: string) => Reply

/** Makes the answers of the operations on a world's resources, in the form that its owner's surface has. */
export const surface = (world: World, wire: Wire, created: number, owner: Owner): Surface => {
  const render = new Render(world, owner.flat ? flatForm : moneyForm(wire))
  const page = pager(wire)
  const { accounts, pairs, deposits, withdrawals, conversions, ids } = world
  const createdAt = new Date(created).toISOString()

  const list = (name: string, size: number, item: (position: number) => string): Listing => ({
    name,
    size,
    render: item,
  })
  const found = (
    kind: IdentifierKind,
    id: string,
    count: number,
    answer: (index: number) => Reply,
  ): Reply => {
    const index = ids.indexOf(kind, id, count)
    return index === undefined ? failure(404, "not_found", `there is no ${kind} ${id}`) : answer(index)
  }
  const statement = (index: number): Listing => {
    const entries = accounts[index]?.entries
    return list(`statement.${index}`, entries?.size ?? 0, (position) =>
      render.entry(entries?.at(position) ?? 0),
    )
  }
  const subscription = (index: number) =>
    JSON.stringify({ subscriptionId: ids.of("subscription", index), endpoint: endpoints[index] })

  return (endpoint, id, query) => {
    switch (endpoint) {
      case "accounts":
        return page(
          list("accounts", accounts.length, (index) => render.account(index)),
          query,
        )
      case "account":
        return found("account", id, accounts.length, (index) => json(200, render.account(index)))
      case "depositInstructions":
        return found("account", id, accounts.length, (index) =>
          json(200, depositInstructions(world, index, owner)),
        )
      case "statement":
        return found("account", id, accounts.length, (index) => page(statement(index), query))
      case "deposits":
        return page(
          list("deposits", deposits.account.size, (index) => render.deposit(index)),
          query,
        )
      case "deposit":
        return found("deposit", id, deposits.account.size, (index) => json(200, render.deposit(index)))
      case "withdrawals":
        return page(
          list("withdrawals", withdrawals.account.size, (index) => render.withdrawal(index)),
          query,
        )
      case "withdrawal":
        return found("withdrawal", id, withdrawals.account.size, (index) =>
          json(200, render.withdrawal(index)),
        )
      case "conversions":
        return page(
          list("conversions", conversions.pair.size, (index) => render.conversion(index)),
          query,
        )
      case "conversion":
        return found("conversion", id, conversions.pair.size, (index) => json(200, render.conversion(index)))
      case "conversionPairs":
        return page(
          list("pairs", pairs.length, (index) => render.pair(index)),
          query,
        )
      case "destinations":
        return page(
          list("destinations", accounts.length * destinationsPerAccount, (index) =>
            destination(world, index, createdAt, owner.flat),
          ),
          query,
        )
      case "subscriptions":
        return page(list("subscriptions", endpoints.length, subscription), query)
    }
  }
}
