import { Schema } from "effect"
import type { Sandbox } from "../../src/Sandbox.ts"

// What the interface says, written down a second time: a slip in the sandbox cannot hide behind shared code.

export const Decimal = Schema.String.pipe(Schema.pattern(/^(0|[1-9]\d*)(\.\d+)?$/))
export const Uuid = Schema.String.pipe(
  Schema.pattern(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
)
export const Time = Schema.String.pipe(Schema.pattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/))
export const Currency = Schema.Literal("USD", "EUR", "GBP", "JPY", "USDT", "USDC")
export const optional = Schema.optional
const Money = Schema.Struct({ amount: Decimal, currency: Currency })
export const AccountRef = Schema.Struct({ accountId: Uuid, currency: Currency, paymentRails: Schema.String })

export const Account = Schema.Struct({
  ...AccountRef.fields,
  balance: Decimal,
  status: Schema.Literal("ACTIVE", "SUSPENDED", "CLOSED"),
})

export const Entry = Schema.Struct({
  entryId: Uuid,
  accountId: Uuid,
  type: Schema.Literal("CREDIT", "DEBIT"),
  amount: Decimal,
  currency: Currency,
  balanceBefore: optional(Decimal),
  balanceAfter: Decimal,
  relatedResourceType: optional(Schema.Literal("DEPOSIT", "WITHDRAWAL", "CONVERSION", "PAYOUT")),
  relatedResourceId: optional(Uuid),
  occurredAt: Time,
})

export const Deposit = Schema.Struct({
  depositId: Uuid,
  account: AccountRef,
  amount: Money,
  fee: optional(Money),
  status: Schema.Literal("PENDING", "HELD", "COMPLETED", "CANCELED", "REJECTED"),
  remitterName: optional(Schema.String),
  code: optional(Schema.String),
  transactionHash: optional(Schema.String),
  reasonCode: optional(Schema.String),
  createdAt: Time,
})

const BankAddress = Schema.Struct({
  country: Schema.String.pipe(Schema.pattern(/^[A-Z]{2}$/)),
  streetName: optional(Schema.String),
  buildingNumber: optional(Schema.String),
  city: optional(Schema.String),
})
const Bank = Schema.Struct({
  bankName: Schema.String,
  address: BankAddress,
  swiftBic: optional(Schema.String),
  clearingCode: optional(Schema.String),
})
const bankDetails = { accountNumber: Schema.String, bank: Bank }
const walletDetails = { walletAddress: Schema.String, network: Schema.Literal("TRON", "AVALANCHE") }
export const identity = { destinationId: optional(Uuid), currency: optional(Currency) }
export const listed = {
  destinationId: Uuid,
  status: Schema.Literal("PENDING_REVIEW", "ACTIVE", "SUSPENDED", "CLOSED"),
  currency: Currency,
  createdAt: optional(Time),
}

export const Destination = Schema.Union(
  Schema.Struct({ ...listed, ...bankDetails }),
  Schema.Struct({ ...listed, ...walletDetails }),
)

export const Withdrawal = Schema.Struct({
  withdrawalId: Uuid,
  sourceAccount: AccountRef,
  sourceAmount: Money,
  destinationAmount: Money,
  fee: Money,
  destination: Schema.Union(
    Schema.Struct({ ...identity, ...bankDetails }),
    Schema.Struct({ ...identity, ...walletDetails }),
  ),
  status: Schema.Literal("PENDING_CONFIRMATION", "PENDING", "HELD", "COMPLETED", "CANCELED", "REJECTED"),
  code: optional(Schema.String),
  reference: optional(Schema.String),
  supportingDocuments: optional(
    Schema.Array(
      Schema.Struct({
        documentType: Schema.String,
        fileId: Schema.String,
        name: Schema.String,
        contentType: Schema.String,
        size: Schema.Int,
      }),
    ),
  ),
  externalReference: optional(Schema.String.pipe(Schema.maxLength(255))),
  transactionHash: optional(Schema.String),
  reasonCode: optional(Schema.String),
  createdAt: Time,
})

const Conversion = Schema.Struct({
  conversionId: Uuid,
  pairId: Uuid,
  status: Schema.Literal("ACTIVE", "COMPLETED", "CANCELED"),
  reasonCode: optional(Schema.String),
  sellAccount: AccountRef,
  sellAmount: Money,
  buyAccount: AccountRef,
  buyAmount: Money,
  rate: Decimal,
  fee: Money,
  externalReference: optional(Schema.String.pipe(Schema.maxLength(255))),
  createdAt: Time,
  completedAt: optional(Time),
})

const Side = Schema.Struct({ currency: Currency, paymentRails: Schema.String })
export const Pair = Schema.Struct({
  pairId: Uuid,
  pair: Schema.String,
  sell: Side,
  buy: Side,
  minAmount: Decimal,
})

const State = Schema.Struct({
  requests: Schema.Record({ key: Schema.String, value: Schema.Int }),
  answers: Schema.Record({ key: Schema.String, value: Schema.Int }),
  busiest: Schema.Record({ key: Schema.String, value: Schema.Int }),
  faults: Schema.Record({ key: Schema.String, value: Schema.Int }),
  clients: Schema.Int,
  receivables: Schema.Int,
  webhooks: Schema.Record({ key: Schema.String, value: Schema.Int }),
  rate: Schema.Int,
  movements: Schema.Int,
  unfinished: Schema.Int,
  entries: Schema.Int,
  deposits: Schema.Int,
  withdrawals: Schema.Int,
  conversions: Schema.Int,
  conversionIds: Schema.Array(Uuid),
  accounts: Schema.Array(
    Schema.Struct({
      accountId: Uuid,
      currency: Currency,
      status: Schema.String,
      entries: Schema.Int,
      openingBalance: Decimal,
      balance: Decimal,
    }),
  ),
})

const PageInfo = Schema.Struct({ hasNextPage: Schema.Boolean, endCursor: optional(Schema.String) })
export const Page = Schema.Struct({ items: Schema.Array(Schema.Unknown), pageInfo: PageInfo })
const TokenAnswer = Schema.Struct({
  token_type: Schema.Literal("Bearer"),
  expires_in: Schema.Int,
  scope: Schema.String,
  access_token: Schema.String,
})

/** Decodes strictly: a field that the interface does not know is an error. */
const decode = <A, I>(schema: Schema.Schema<A, I>, input: unknown): A =>
  Schema.decodeUnknownSync(schema, { onExcessProperty: "error" })(input)

/** Hundred-millionths, the finest scale of any amount here. */
export const exact = (text: string): bigint => {
  const [whole = "", fraction = ""] = text.split(".")
  return BigInt(whole + fraction.padEnd(8, "0"))
}

/** How many decimals an amount is written with. */
export const decimals = (text: string): number => text.split(".")[1]?.length ?? 0

export const requestToken = (sandbox: Sandbox, changes: Record<string, string> = {}): Promise<Response> =>
  fetch(`${sandbox.url}/oauth/token`, {
    method: "POST",
    body: new URLSearchParams({
      client_id: "sandbox-client",
      client_secret: "sandbox-secret",
      grant_type: "client_credentials",
      scope: "accounts:read deposits:read",
      ...changes,
    }),
  })

/** A plain client of one sandbox. */
export const connect = async (sandbox: Sandbox) => {
  const { access_token } = decode(TokenAnswer, await (await requestToken(sandbox)).json())
  const get = (path: string) =>
    fetch(`${sandbox.url}${path}`, { headers: { authorization: `Bearer ${access_token}` } })
  const one = async <A, I>(schema: Schema.Schema<A, I>, path: string): Promise<A> =>
    decode(schema, await (await get(path)).json())
  const all = async <A, I>(schema: Schema.Schema<A, I>, path: string, size = 1000): Promise<Array<A>> => {
    const items: Array<A> = []
    let cursor = ""
    for (;;) {
      const page = await one(Page, `${path}?first=${size}${cursor}`)
      items.push(...page.items.map((item) => decode(schema, item)))
      if (!page.pageInfo.hasNextPage) return items
      cursor = `&after=${page.pageInfo.endCursor}`
    }
  }
  const state = async (query = "") =>
    decode(State, await (await fetch(`${sandbox.origin}/control/state${query}`)).json())
  const everything = async () => {
    const accounts = await all(Account, "/accounts")
    const statements = new Map<string, ReadonlyArray<typeof Entry.Type>>()
    for (const { accountId } of accounts) {
      statements.set(accountId, await all(Entry, `/accounts/${accountId}/statement`))
    }
    const deposits = await all(Deposit, "/deposits")
    const withdrawals = await all(Withdrawal, "/withdrawals")
    const { conversionIds } = await state()
    const conversions = await Promise.all(conversionIds.map((id) => one(Conversion, `/conversions/${id}`)))
    return { accounts, statements, deposits, withdrawals, conversions }
  }
  return { token: access_token, get, one, all, state, everything }
}

/** A reader of the sandbox with its token. */
export type Reader = Awaited<ReturnType<typeof connect>>

/** Statement entries by the resource that they name. */
export const byResource = (statements: ReadonlyMap<string, ReadonlyArray<typeof Entry.Type>>) => {
  const groups = new Map<string, Array<typeof Entry.Type>>()
  for (const entry of [...statements.values()].flat()) {
    if (entry.relatedResourceId === undefined) continue
    const group = groups.get(entry.relatedResourceId)
    if (group === undefined) groups.set(entry.relatedResourceId, [entry])
    else group.push(entry)
  }
  return groups
}
