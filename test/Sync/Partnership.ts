/** A small partner service whose every answer a test decides, including answers that no well-behaved service gives. */
import { Effect } from "effect"
import * as Money from "../../src/Common/Money.ts"
import { type Answerer, json, serve, tokenAnswer } from "../Partner/Service.ts"

export const id = (index: number) => `0f8fad5b-d9cb-469f-a165-${String(index).padStart(12, "0")}`
export const accountId = id(1)

type Item = Record<string, unknown>

/** What the service holds; a test changes it between runs. */
export interface Partnership {
  balance: string
  statement: Array<Item>
  deposits: Array<Item>
  withdrawals: Array<Item>
  conversions: Array<Item>
  /** May answer a request in its own way; answers true where it did. */
  interfere: (path: string, response: Parameters<Answerer>[1]) => boolean
  /** Whether the credentials are taken where a token is asked for. */
  credentials: boolean
  /** Items per page of every list. */
  pageSize: number
  /** Whether the last page has an end cursor. */
  endCursorOnLastPage: boolean
}

export const credit = (index: number, amount: string, balanceAfter: string, depositId?: string): Item => ({
  entryId: id(index),
  accountId,
  type: "CREDIT",
  amount,
  currency: "USD",
  balanceAfter,
  ...(depositId === undefined ? {} : { relatedResourceType: "DEPOSIT", relatedResourceId: depositId }),
  occurredAt: `2026-10-01T00:00:${String(index % 60).padStart(2, "0")}Z`,
})

export const debit = (index: number, amount: string, balanceAfter: string, withdrawalId?: string): Item => ({
  ...credit(index, amount, balanceAfter),
  type: "DEBIT",
  ...(withdrawalId === undefined
    ? {}
    : { relatedResourceType: "WITHDRAWAL", relatedResourceId: withdrawalId }),
})

export const account = { accountId, currency: "USD", paymentRails: "SEPA" }

export const deposit = (index: number, amount: string, over: Item = {}): Item => ({
  depositId: id(index),
  account,
  amount: { amount, currency: "USD" },
  status: "COMPLETED",
  createdAt: `2026-10-01T00:00:${String(index % 60).padStart(2, "0")}Z`,
  ...over,
})

/** Three deposits that the statement shows in posting order. */
export const threeDeposits = {
  balance: "16",
  deposits: [deposit(11, "10"), deposit(12, "5"), deposit(13, "1")],
  statement: [credit(21, "10", "10", id(11)), credit(22, "5", "15", id(12)), credit(23, "1", "16", id(13))],
}

export const withdrawal = (index: number, amount: string, fee: string, over: Item = {}): Item => ({
  withdrawalId: id(index),
  sourceAccount: account,
  sourceAmount: { amount, currency: "USD" },
  destinationAmount: {
    amount: Money.format(Money.subtract(Money.fromTrusted(amount), Money.fromTrusted(fee)), 2),
    currency: "USD",
  },
  fee: { amount: fee, currency: "USD" },
  destination: { accountNumber: "DE00", swiftBic: "X", bankName: "Bank" },
  status: "COMPLETED",
  createdAt: "2026-10-01T00:00:00Z",
  ...over,
})

const page = ({ endCursorOnLastPage, pageSize }: Partnership, items: ReadonlyArray<Item>, url: string) => {
  const after = new URL(url, "http://x").searchParams.get("after")
  const from = after === null ? 0 : Number(after)
  const slice = items.slice(from, from + pageSize)
  const hasNextPage = from + pageSize < items.length
  const ends = slice.length > 0 && (hasNextPage || endCursorOnLastPage)
  return {
    items: slice,
    pageInfo: { hasNextPage, ...(ends ? { endCursor: String(from + slice.length) } : {}) },
  }
}

const byId = (items: ReadonlyArray<Item>, key: string, path: string) =>
  items.find((item) => path.endsWith(`/${String(item[key])}`))

const answer =
  (partnership: Partnership): Answerer =>
  ({ path }, response) => {
    if (partnership.interfere(path, response)) return
    const [route = ""] = path.split("?")
    const accounts = [{ ...account, balance: partnership.balance, status: "ACTIVE" }]
    const lists: Record<string, ReadonlyArray<Item>> = {
      "/accounts": accounts,
      [`/accounts/${accountId}/statement`]: partnership.statement,
      "/deposits": partnership.deposits,
      "/withdrawals": partnership.withdrawals,
      "/conversion-pairs": [],
      "/destinations": [],
    }
    const list = lists[route]
    if (list !== undefined) return json(response, page(partnership, list, path))
    const one =
      byId(accounts, "accountId", route) ??
      byId(partnership.deposits, "depositId", route) ??
      byId(partnership.withdrawals, "withdrawalId", route) ??
      byId(partnership.conversions, "conversionId", route)
    json(response, one ?? { code: "not_found" }, one === undefined ? 404 : 200)
  }

/** A service with one USD account, as the test fills it. */
export const partnership = (over: Partial<Partnership> = {}) =>
  Effect.gen(function* () {
    const held: Partnership = {
      balance: "0",
      statement: [],
      deposits: [],
      withdrawals: [],
      conversions: [],
      interfere: () => false,
      credentials: true,
      pageSize: 100,
      endCursorOnLastPage: true,
      ...over,
    }
    const token: Answerer = (call, response, index) =>
      held.credentials ? tokenAnswer(call, response, index) : json(response, { error: "invalid_client" }, 401)
    const service = yield* serve(answer(held), token)
    return { held, service }
  })

/** The settings of a connection that reads the organization and its clients. */
export const bothSurfaces = { TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, client]}}" }
