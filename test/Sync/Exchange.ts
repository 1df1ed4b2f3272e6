/** A small partner service with accounts in several currencies and conversions between them, as a test fills it. */
import { Effect } from "effect"
import * as Money from "../../src/Common/Money.ts"
import { type Answerer, json, serve } from "../Partner/Service.ts"
import { id } from "./Partnership.ts"

/** Accounts by a short name; the service lists those that an exchange has. */
export const accounts = {
  usd: { accountId: id(1), currency: "USD", paymentRails: "SWIFT" },
  eur: { accountId: id(2), currency: "EUR", paymentRails: "SEPA" },
  usdt: { accountId: id(3), currency: "USDT", paymentRails: "TRON" },
  usd2: { accountId: id(4), currency: "USD", paymentRails: "ACH" },
} as const
export type AccountName = keyof typeof accounts

/** A movement of an account: the change of its balance, and the conversion that it belongs to. Movements are in posting order. */
export interface Move {
  readonly on: AccountName
  /** `2026-09-05`, at noon, or a point in time. */
  readonly at: string
  readonly amount: string
  /** The index of the conversion; absent: an adjustment. */
  readonly of?: number
}

export interface Exchanged {
  readonly sell: AccountName
  readonly sold: string
  readonly buy: AccountName
  readonly bought: string
  readonly fee?: string
  /** In the buy currency instead of the sell currency. */
  readonly buyFee?: boolean
  readonly status?: string
}

/** What the service holds; a test changes it between runs. */
export interface Exchange {
  readonly listed: ReadonlyArray<AccountName>
  moves: Array<Move>
  /** By index. */
  conversions: Record<number, Exchanged>
  /** Balances before the first entry that is served. */
  opening: Partial<Record<AccountName, string>>
  pageSize: number
  /** May answer a request in its own way; answers true where it did. */
  interfere: (path: string, response: Parameters<Answerer>[1]) => boolean
  /** Waits before an answer, milliseconds. */
  delay: (path: string) => number
}

const conversionJson = (index: number, of: Exchanged) => {
  const sell = accounts[of.sell]
  const buy = accounts[of.buy]
  return {
    conversionId: id(index),
    pairId: id(800),
    sellAccount: sell,
    sellAmount: { amount: of.sold, currency: sell.currency },
    buyAccount: buy,
    buyAmount: { amount: of.bought, currency: buy.currency },
    rate: "0.9",
    fee: { amount: of.fee ?? "0", currency: of.buyFee === true ? buy.currency : sell.currency },
    status: of.status ?? "COMPLETED",
    createdAt: "2026-09-01T00:00:00Z",
  }
}

const statementOf = ({ moves, opening }: Exchange, name: AccountName) => {
  let balance = Money.fromTrusted(opening[name] ?? "0")
  return moves
    .map((move, at) => ({ move, at }))
    .filter(({ move }) => move.on === name)
    .map(({ at, move }) => {
      balance = Money.add(balance, Money.fromTrusted(move.amount))
      return {
        entryId: id(10_000 + at),
        accountId: accounts[name].accountId,
        type: move.amount.startsWith("-") ? "DEBIT" : "CREDIT",
        amount: move.amount.replace("-", ""),
        currency: accounts[name].currency,
        balanceAfter: Money.toText(balance),
        ...(move.of === undefined
          ? {}
          : { relatedResourceType: "CONVERSION", relatedResourceId: id(move.of) }),
        occurredAt: move.at.includes("T") ? move.at : `${move.at}T12:00:00Z`,
      }
    })
}

const pageOf = (items: ReadonlyArray<object>, pageSize: number, path: string) => {
  const from = Number(new URL(path, "http://x").searchParams.get("after") ?? 0)
  const slice = items.slice(from, from + pageSize)
  const ends = slice.length > 0 ? { endCursor: String(from + slice.length) } : {}
  return { items: slice, pageInfo: { hasNextPage: from + pageSize < items.length, ...ends } }
}

const answer =
  (exchange: Exchange): Answerer =>
  ({ path }, response) => {
    if (exchange.interfere(path, response)) return
    const [route = ""] = path.split("?")
    const listed = exchange.listed.map((name) => ({
      ...accounts[name],
      balance: statementOf(exchange, name).at(-1)?.balanceAfter ?? exchange.opening[name] ?? "0",
      status: "ACTIVE",
    }))
    const statement = exchange.listed.find(
      (name) => route === `/accounts/${accounts[name].accountId}/statement`,
    )
    const empty = ["/deposits", "/withdrawals", "/conversion-pairs", "/destinations"].includes(route)
    const items =
      route === "/accounts"
        ? listed
        : statement !== undefined
          ? statementOf(exchange, statement)
          : empty
            ? []
            : null
    const reply = () => {
      if (items !== null) return json(response, pageOf(items, exchange.pageSize, path))
      const account = listed.find(({ accountId }) => route === `/accounts/${accountId}`)
      const found = Object.entries(exchange.conversions).find(([index]) => route.endsWith(id(Number(index))))
      const one = account ?? (found === undefined ? undefined : conversionJson(Number(found[0]), found[1]))
      json(response, one ?? { code: "not_found" }, one === undefined ? 404 : 200)
    }
    const wait = exchange.delay(path)
    if (wait === 0) reply()
    else setTimeout(reply, wait)
  }

export const exchange = (over: Partial<Exchange> = {}) =>
  Effect.gen(function* () {
    const held: Exchange = {
      listed: ["usd", "eur"],
      moves: [],
      conversions: {},
      opening: {},
      pageSize: 100,
      interfere: () => false,
      delay: () => 0,
      ...over,
    }
    const service = yield* serve(answer(held))
    return { held, service }
  })
