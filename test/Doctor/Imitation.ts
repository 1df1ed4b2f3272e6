/** A small service with names that a test chooses. It is deterministic, and strict about parameters where a test asks for that. */
import { isRecord } from "../../src/Common/Record.ts"
import { type Answerer, json, serve, uuid } from "../Partner/Service.ts"

export interface Names {
  /** Empty: the answer is the list. */
  readonly items: string
  /** Empty: there is none. */
  readonly pageInfo: string
  readonly cursor: string
  /** Null where it takes no page size. */
  readonly size: string | null
  readonly amount: string
  readonly currency: string
  /** What follows `/accounts/{accountId}`; `?NAME`: it is at `/statement-entries`, and the account a parameter of that name. */
  readonly statement: string
  /** Null where there is none. */
  readonly addressBook: string | null
  readonly receivables: string
  readonly creditAccounts: string
  readonly publicKeys: string
  /** Refuses parameters that it does not know. */
  readonly strict: boolean
  /** Rows of a page where the request names no size. */
  readonly pageSize: number
  readonly entries: number
  /** What lies between two pages: nothing, a row that is on both, or an empty page. */
  readonly border: "plain" | "overlap" | "empty"
  /** Writes no items as null. */
  readonly nullForNone: boolean
  /** Whether answers have a `Date` header. */
  readonly dated: boolean
  /** What differs for a list, by the last part of its path. */
  readonly apart: Readonly<Record<string, Partial<Pick<Names, "items" | "pageInfo" | "cursor" | "size">>>>
  /** Accounts of 1 to 3 whose statement answers 404. */
  readonly absent: ReadonlyArray<number>
}

const usual: Names = {
  items: "items",
  pageInfo: "pageInfo",
  cursor: "after",
  size: "first",
  amount: "amount",
  currency: "currency",
  statement: "/statement",
  addressBook: "/destinations",
  receivables: "/receivables",
  creditAccounts: "/credit-accounts",
  publicKeys: "/webhooks/public-keys",
  strict: false,
  pageSize: 20,
  entries: 5,
  border: "plain",
  nullForNone: false,
  dated: true,
  apart: {},
  absent: [],
}

/** Values that must not appear anywhere: they stand for personal data. */
export const personal = ["DE89370400440532013000", "Erika Mustermann", "COBADEFFXXX"]

const ref = (index: number) => ({ accountId: uuid(index), currency: "EUR", paymentRails: "SEPA" })
const accountRow = (index: number) => ({
  ...ref(index),
  balance: index === 1 ? "50.00" : "0.00",
  status: "ACTIVE",
})
const at = "2026-10-01T12:00:00Z"

const entryRow = (account: number, index: number) => ({
  entryId: uuid(1000 + index),
  accountId: uuid(account),
  type: "CREDIT",
  amount: "10.00",
  currency: "EUR",
  balanceAfter: `${(index + 1) * 10}.00`,
  ...[
    { relatedResourceType: "DEPOSIT", relatedResourceId: uuid(100) },
    { relatedResourceType: "WITHDRAWAL", relatedResourceId: uuid(200) },
    { relatedResourceType: "CONVERSION", relatedResourceId: uuid(300) },
    {},
  ][index % 4],
  occurredAt: at,
})

const place = (target: Record<string, unknown>, path: string, value: unknown): void => {
  const [key = "", ...rest] = path.split(".")
  if (rest.length === 0) target[key] = value
  else {
    const inner = isRecord(target[key]) ? { ...target[key] } : {}
    place(inner, rest.join("."), value)
    target[key] = inner
  }
}

/** The answers of one book's endpoints, by path below the book's prefix. */
const bookAnswers = (names: Names, flat: boolean) => {
  const money = (amount: string) => ({ [names.amount]: amount, [names.currency]: "EUR" })
  const deposit = (index: number) => ({
    depositId: uuid(100 + index),
    account: ref(1),
    ...(flat
      ? { amount: "10.00", currency: "EUR", feeAmount: "0.10" }
      : { amount: money("10.00"), fee: money("0.10") }),
    status: "COMPLETED",
    remitterName: "Erika Mustermann",
    createdAt: at,
  })
  const withdrawal = (index: number) => ({
    withdrawalId: uuid(200 + index),
    sourceAccount: ref(1),
    ...(flat
      ? { amount: "10.00", currency: "EUR" }
      : { sourceAmount: money("10.00"), destinationAmount: money("9.00"), fee: money("1.00") }),
    destination: { destinationId: uuid(400), accountNumber: "DE89370400440532013000" },
    status: "COMPLETED",
    createdAt: at,
  })
  const conversion = {
    conversionId: uuid(300),
    pairId: uuid(500),
    status: "COMPLETED",
    sellAccount: ref(1),
    sellAmount: flat ? "10.00" : money("10.00"),
    buyAccount: ref(2),
    buyAmount: flat ? "10.00" : money("10.00"),
    rate: "1",
    ...(flat ? { feeAmount: "0.00", feeCurrency: "EUR" } : { fee: money("0.00") }),
    createdAt: at,
  }
  const instructions = {
    beneficiaryName: "Erika Mustermann",
    accountNumber: "DE89370400440532013000",
    swiftBic: "COBADEFFXXX",
    bankName: "Bank",
  }
  const lists: Record<string, ReadonlyArray<object>> = {
    "/accounts": [1, 2, 3].map(accountRow),
    [`/accounts/${uuid(1)}${names.statement}`]: Array.from({ length: names.entries }, (_, index) =>
      entryRow(1, index),
    ),
    [`/accounts/${uuid(2)}${names.statement}`]: [],
    [`/accounts/${uuid(3)}${names.statement}`]: [],
    ...(flat ? {} : { "/deposits": [0, 1, 2].map(deposit), "/withdrawals": [0].map(withdrawal) }),
    "/conversion-pairs": [{ pairId: uuid(500), pair: "EUR-EUR" }],
    ...(names.addressBook === null
      ? {}
      : { [names.addressBook]: [{ destinationId: uuid(400), accountNumber: "DE89370400440532013000" }] }),
  }
  const objects: Record<string, object> = {
    ...Object.fromEntries([1, 2, 3].map((index) => [`/accounts/${uuid(index)}`, accountRow(index)])),
    ...Object.fromEntries(
      [1, 2, 3].map((index) => [`/accounts/${uuid(index)}/deposit-instructions`, instructions]),
    ),
    ...Object.fromEntries([0, 1, 2].map((index) => [`/deposits/${uuid(100 + index)}`, deposit(index)])),
    [`/withdrawals/${uuid(200)}`]: withdrawal(0),
    [`/conversions/${uuid(300)}`]: conversion,
  }
  return { lists, objects }
}

const below = <A>(prefix: string, answers: Record<string, A>): Record<string, A> =>
  Object.fromEntries(Object.entries(answers).map(([path, answer]) => [prefix + path, answer]))

const clientRow = (index: number, status: string) => ({
  clientId: uuid(600 + index),
  code: `C${index}`,
  legalEntityName: "Erika Mustermann",
  status,
})

const credit = (names: Names): Record<string, ReadonlyArray<object>> => ({
  "/settings/payment-rails": [{ code: "SEPA", description: "SEPA", currencies: ["EUR"] }],
  [names.receivables]: [
    {
      receivableId: uuid(700),
      clientId: uuid(602),
      issueDate: at,
      initialPrincipal: "100.00",
      currentPrincipal: "60.00",
      repaymentAmount: "61.00",
      currency: "EUR",
      status: "ACTIVE",
      paymentTransaction: { txId: "tx", txTimestamp: at },
      paymentRails: "SEPA",
    },
  ],
  [names.creditAccounts]: [
    {
      creditAccountId: uuid(800),
      currency: "EUR",
      creditLimit: "1000.00",
      availableBalance: "940.00",
      principalOutstanding: "60.00",
      totalRepaymentAmount: "61.00",
      totalInterestAmount: "1.00",
      status: "ACTIVE",
      paymentRails: "SEPA",
    },
  ],
  "/webhooks/subscriptions": [
    { subscriptionId: uuid(901), endpoint: "https://books.example.com/webhooks/default" },
  ],
  [names.publicKeys]: [
    { publicKeyId: uuid(900), active: true, algorithm: "ES256", publicKey: "…", createdAt: at },
  ],
})

const pageOf = (names: Names, path: string, rows: ReadonlyArray<object>, query: URLSearchParams) => {
  const asked = names.size === null ? null : query.get(names.size)
  const size = asked === null ? names.pageSize : Number(asked)
  const cursor = query.get(names.cursor)
  const [from, passed] = cursor?.slice(path.length + 1).split("+") ?? ["0"]
  const start = Number(from)
  if (!Number.isInteger(size) || size < 1 || (cursor !== null && !cursor.startsWith(`${path}:${start}`)))
    return undefined
  const empty = names.border === "empty" && cursor !== null && passed === undefined
  const end = empty ? start : start + size
  const next = names.border === "overlap" && size > 1 ? end - 1 : end
  if (names.items === "") return rows.slice(start, end)
  const answer: Record<string, unknown> = { links: [{ rel: "self" }], status: { status: "OK" } }
  const items = rows.slice(start, end)
  place(answer, names.items, names.nullForNone && items.length === 0 ? null : items)
  if (names.pageInfo === "") return answer
  place(answer, names.pageInfo, {
    hasNextPage: end < rows.length,
    endCursor: empty ? `${path}:${end}+` : `${path}:${next}`,
  })
  return answer
}

const answerer = (names: Names): Answerer => {
  const own = bookAnswers(names, false)
  const clients = bookAnswers(names, true)
  const prefix = `/clients/${uuid(602)}`
  const lists: Record<string, ReadonlyArray<object>> = {
    ...own.lists,
    ...below(prefix, clients.lists),
    "/clients": [clientRow(1, "ONBOARDING"), clientRow(2, "ACTIVE")],
    ...credit(names),
  }
  const objects: Record<string, object> = { ...own.objects, ...below(prefix, clients.objects) }
  return ({ method, path }, response) => {
    response.sendDate = names.dated
    const url = new URL(path, "http://localhost")
    const { searchParams } = url
    const account = names.statement.startsWith("?") ? searchParams.get(names.statement.slice(1)) : null
    if (account !== null) searchParams.delete(names.statement.slice(1))
    const pathname =
      account === null
        ? url.pathname
        : url.pathname.replace("/statement-entries", `/accounts/${account}${names.statement}`)
    if (method !== "GET") return json(response, { message: "only reading is allowed" }, 405)
    const object = objects[pathname]
    if (object !== undefined) return json(response, object)
    const isAbsent = names.absent.some((index) => pathname === `/accounts/${uuid(index)}${names.statement}`)
    const rows = isAbsent ? undefined : lists[pathname]
    if (rows === undefined) return json(response, { code: "not_found", message: `no ${pathname}` }, 404)
    const own = { ...names, ...names.apart[pathname.split("/").at(-1) ?? ""] }
    const unknown = [...searchParams.keys()].find((key) => key !== own.cursor && key !== own.size)
    if (names.strict && unknown !== undefined) {
      return json(response, { code: "bad_request", message: `unknown parameter ${unknown}` }, 400)
    }
    const page = pageOf(own, pathname, rows, searchParams)
    return page === undefined ? json(response, { message: "bad cursor" }, 400) : json(response, page)
  }
}

/** Serves on loopback until the scope closes. */
export const imitate = (names: Partial<Names> = {}, token?: Answerer) => {
  const answer = answerer({ ...usual, ...names })
  return token === undefined ? serve(answer) : serve(answer, token)
}
