/** A small partner service with clients and a credit surface, whose every answer a test decides. */
import { Effect } from "effect"
import { type Answerer, json, serve } from "../Partner/Service.ts"
import { id } from "./Partnership.ts"

type Item = Record<string, unknown>

export const clientId = (index: number) => `c1000000-0000-4000-8000-${String(index).padStart(12, "0")}`

export interface Lending {
  clients: Array<Item>
  receivables: Array<Item>
  creditAccounts: Array<Item>
  /** Statement of the organization's USD account, and of each client's, by client identifier (`""`: the organization). */
  statements: Record<string, Array<Item>>
  deposits: Array<Item>
  withdrawals: Array<Item>
  /** What `Date` says; the service's clock. */
  clock: string
  interfere: (path: string, response: Parameters<Answerer>[1]) => boolean
}

export const client = (index: number, over: Item = {}): Item => ({
  clientId: clientId(index),
  code: `C${index}`,
  legalEntityName: `Client ${index} Ltd`,
  status: "ACTIVE",
  partnerClientId: `p${index}`,
  ...over,
})

export const receivable = (over: Item = {}): Item => ({
  receivableId: id(900),
  clientId: clientId(1),
  issueDate: "2026-10-01T00:00:00Z",
  initialPrincipal: "1000.00",
  currentPrincipal: "1000.00",
  repaymentAmount: "1000.00",
  currency: "USD",
  status: "PENDING",
  paymentTransaction: { txId: "PAY-1", txTimestamp: "2026-10-01T00:00:00Z" },
  paymentRails: "SWIFT",
  ...over,
})

export const creditAccount = (principal: string, repayment: string): Item => ({
  creditAccountId: id(950),
  currency: "USD",
  creditLimit: "50000.00",
  availableBalance: "1.00",
  principalOutstanding: principal,
  totalRepaymentAmount: repayment,
  totalInterestAmount: "0.00",
  status: "ACTIVE",
  paymentRails: "SWIFT",
})

/** Every book has one USD account; a client's identifier makes its own. */
export const accountOf = (client: string): string => (client === "" ? id(1) : client.replace(/^c1/, "a1"))

/** The next entry of a book's statement. */
export const move = (
  lending: Lending,
  book: string,
  entry: { type: "CREDIT" | "DEBIT"; amount: number; relatedType?: string; relatedId?: string; on?: string },
): string => {
  const statement = lending.statements[book] ?? []
  lending.statements[book] = statement
  const before = Number(statement.at(-1)?.balanceAfter ?? 0)
  const after = entry.type === "CREDIT" ? before + entry.amount : before - entry.amount
  const prefix = book === "" ? "e0" : `e${book.slice(-1)}`
  const entryId = `${prefix}000000-0000-4000-8000-${String(statement.length + 1).padStart(12, "0")}`
  statement.push({
    entryId,
    accountId: accountOf(book),
    type: entry.type,
    amount: entry.amount.toFixed(2),
    currency: "USD",
    balanceAfter: after.toFixed(2),
    ...(entry.relatedType === undefined
      ? {}
      : { relatedResourceType: entry.relatedType, relatedResourceId: entry.relatedId }),
    occurredAt: entry.on ?? "2026-10-02T00:00:00Z",
  })
  return entryId
}

const listOf = (items: ReadonlyArray<Item>) => ({ items, pageInfo: { hasNextPage: false } })

const bookAnswer = (lending: Lending, book: string, route: string): unknown => {
  const accountId = accountOf(book)
  const statement = lending.statements[book] ?? []
  const account = {
    accountId,
    currency: "USD",
    paymentRails: "SWIFT",
    balance: String(statement.at(-1)?.balanceAfter ?? "0.00"),
    status: "ACTIVE",
  }
  if (route === "/accounts") return listOf([account])
  if (route === `/accounts/${accountId}`) return account
  if (route === `/accounts/${accountId}/statement`) return listOf(statement)
  if (route === "/conversion-pairs" || route === "/destinations") return listOf([])
  if (book === "" && route === "/deposits") return listOf(lending.deposits)
  if (book === "" && route === "/withdrawals") return listOf(lending.withdrawals)
  return (
    lending.deposits.find(({ depositId }) => route === `/deposits/${String(depositId)}`) ??
    lending.withdrawals.find(({ withdrawalId }) => route === `/withdrawals/${String(withdrawalId)}`)
  )
}

const answer =
  (lending: Lending): Answerer =>
  ({ path }, response) => {
    if (lending.interfere(path, response)) return
    const [route = ""] = path.split("?")
    const headers = { date: new Date(lending.clock).toUTCString() }
    const lists: Record<string, ReadonlyArray<Item>> = {
      "/clients": lending.clients,
      "/receivables": lending.receivables,
      "/credit-accounts": lending.creditAccounts,
      "/settings/payment-rails": [{ code: "SWIFT", description: "Swift", currencies: ["USD"] }],
    }
    const list = lists[route]
    if (list !== undefined) return json(response, listOf(list), 200, headers)
    const [, of = "", rest = route] = /^\/clients\/([^/]+)(\/.*)$/.exec(route) ?? []
    const found = bookAnswer(lending, of, rest)
    json(response, found ?? { code: "not_found" }, found === undefined ? 404 : 200, headers)
  }

export const lending = (over: Partial<Lending> = {}) =>
  Effect.gen(function* () {
    const held: Lending = {
      clients: [client(1)],
      receivables: [],
      creditAccounts: [],
      statements: {},
      deposits: [],
      withdrawals: [],
      clock: "2026-10-05T12:00:00Z",
      interfere: () => false,
      ...over,
    }
    const service = yield* serve(answer(held))
    return { held, service }
  })

const usd = (amount: string) => ({ amount, currency: "USD" })

/** A deposit or withdrawal of the organization's account, as the Money form has it. */
export const orgDeposit = (index: number, amount: string, over: Item = {}): Item => ({
  depositId: id(index),
  account: { accountId: id(1), currency: "USD", paymentRails: "SWIFT" },
  amount: usd(amount),
  status: "COMPLETED",
  createdAt: "2026-10-01T00:00:00Z",
  ...over,
})

export const orgWithdrawal = (index: number, amount: string, over: Item = {}): Item => ({
  withdrawalId: id(index),
  sourceAccount: { accountId: id(1), currency: "USD", paymentRails: "SWIFT" },
  sourceAmount: usd(amount),
  destinationAmount: usd(amount),
  fee: usd("0.00"),
  destination: { accountNumber: "DE00", bankName: "Bank" },
  status: "COMPLETED",
  createdAt: "2026-10-01T00:00:00Z",
  ...over,
})
