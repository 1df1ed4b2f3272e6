import { depositInstructions, destination, type Owner } from "../World/AddressBook.ts"
import type { IdentifierKind } from "../World/Identifier.ts"
import { RowSet } from "../World/TypedColumns.ts"
import { destinationsPerAccount, type World } from "../World/World.ts"
import { flatForm, moneyForm } from "./Form.ts"
import { type Asked, type Listing, pager } from "./Pages.ts"
import { Render } from "./Render.ts"
import { failure, json, type Reply } from "./SandboxReply.ts"
import type { ClientEndpoint, Wire } from "./Wire.ts"

const endpoints = ["https://hooks.example.test/tieout", "https://backup.example.test/hooks?tenant=1"]

/** Answers the operations on the resources of one world. */
export type Surface = (endpoint: ClientEndpoint | "subscriptions", id: string, asked: Asked) => Reply

/**
 * Makes the answers of the operations on a world's resources, in the form that its owner's surface has. `scope` tells
 * its cursors from those of other worlds.
 */
export const surface = (world: World, wire: Wire, created: number, owner: Owner, scope: string): Surface => {
  const render = new Render(world, owner.flat ? flatForm : moneyForm(wire))
  const page = pager(wire)
  const { accounts, pairs, deposits, withdrawals, conversions, ids } = world
  const createdAt = new Date(created).toISOString()

  const list = (name: string, size: number, item: (position: number) => string): Listing => ({
    name: `${scope}${name}`,
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
  /** Resources that are completed in the course of time; none is seen as completed first and as open afterwards. */
  const resource = (
    kind: "deposit" | "withdrawal" | "conversion",
    rows: { readonly at: (index: number) => string; readonly size: number },
  ) => {
    const seen = new RowSet()
    const item = (index: number) => {
      seen.add(index)
      return render[kind](index)
    }
    const earlier = (index: number) => {
      if (seen.has(index) || rows.at(index) !== "COMPLETED") return undefined
      return render[kind](index, true)
    }
    return {
      all: (asked: Asked) => page({ ...list(`${kind}s`, rows.size, item), earlier }, asked),
      one: (id: string) => found(kind, id, rows.size, (index) => json(200, item(index))),
    }
  }
  const resources = {
    deposit: resource("deposit", deposits.status),
    withdrawal: resource("withdrawal", withdrawals.status),
    conversion: resource("conversion", conversions.status),
  }
  const statement = (index: number): Listing => {
    const entries = accounts[index]?.entries
    return list(`statement.${index}`, entries?.size ?? 0, (position) =>
      render.entry(entries?.at(position) ?? 0),
    )
  }
  const subscription = (index: number) =>
    JSON.stringify({ subscriptionId: ids.of("subscription", index), endpoint: endpoints[index] })
  const lists = {
    accounts: list("accounts", accounts.length, (index) => render.account(index)),
    conversionPairs: list("pairs", pairs.length, (index) => render.pair(index)),
    destinations: list("destinations", accounts.length * destinationsPerAccount, (index) =>
      destination(world, index, createdAt, owner.flat),
    ),
    subscriptions: list("subscriptions", endpoints.length, subscription),
  }

  return (endpoint, id, asked) => {
    switch (endpoint) {
      case "accounts":
      case "conversionPairs":
      case "destinations":
      case "subscriptions":
        return page(lists[endpoint], asked)
      case "account":
        return found("account", id, accounts.length, (index) => json(200, render.account(index)))
      case "depositInstructions":
        return found("account", id, accounts.length, (index) =>
          json(200, depositInstructions(world, index, owner)),
        )
      case "statement":
        return found("account", id, accounts.length, (index) => page(statement(index), asked))
      case "deposits":
        return resources.deposit.all(asked)
      case "deposit":
        return resources.deposit.one(id)
      case "withdrawals":
        return resources.withdrawal.all(asked)
      case "withdrawal":
        return resources.withdrawal.one(id)
      case "conversions":
        return resources.conversion.all(asked)
      case "conversion":
        return resources.conversion.one(id)
    }
  }
}
