/** The service's resources as JSON, in the form of `docs/interface.md` with the default settings. */
import { decimal, units } from "./Decimals.ts"
import type { Said, TransactionText } from "./History.ts"
import { isJson, type Json } from "./Json.ts"
import { destinationOf } from "./Rules/Destinations.ts"
import {
  balanceOf,
  type World,
  type WorldAccount,
  type WorldReceivable,
  type WorldResource,
} from "./World.ts"

const money = (amount: string, currency: string): Json => ({ amount, currency })

const ref = ({ currency, id, rail }: WorldAccount): Json => ({
  accountId: id,
  currency,
  paymentRails: rail,
})

export const account = (of: WorldAccount): Json => ({
  ...ref(of),
  balance: decimal(balanceOf(of), of.currency),
  status: "ACTIVE",
})

/** Entry `index` of the account, of which `after` is the running balance. */
export const entry = (world: World, of: WorldAccount, index: number, after: bigint): Json => {
  const one = of.entries[index]
  if (one === undefined) throw new Error("there is no such entry")
  return {
    entryId: one.shownId,
    accountId: of.id,
    type: one.type,
    amount: one.malformed ? "1e2" : decimal(one.amount, of.currency),
    currency: of.currency,
    balanceAfter: decimal(after, of.currency),
    ...(one.related === null
      ? {}
      : { relatedResourceType: one.related.type, relatedResourceId: world.idOf(one.related.of) }),
    occurredAt: one.occurredAt,
  }
}

const accountOf = (world: World, name: string): WorldAccount => {
  const found = world.accounts.get(name)
  if (found === undefined) throw new Error(`there is no account ${name}`)
  return found
}

/** Units of the buy currency per unit of the sell currency, to ten decimals. */
const rate = (sold: bigint, soldScale: bigint, bought: bigint, boughtScale: bigint): string => {
  const scaled = sold === 0n ? 0n : (bought * soldScale * 10n ** 10n) / (sold * boughtScale)
  const digits = (scaled === 0n ? 1n : scaled).toString().padStart(11, "0")
  return `${digits.slice(0, -10)}.${digits.slice(-10)}`
}

const one = 100_000_000n

/** An amount with eight decimals, whatever the currency. */
const eight = (text: string): bigint => units(text, "USDT")

const conversion = (world: World, resource: WorldResource): Json => {
  const { content } = resource
  if (content.type !== "CONVERSION") throw new Error("no conversion")
  const sell = accountOf(world, content.sell)
  const buy = accountOf(world, content.buy)
  const { fee } = content
  const ofSell = fee.currency === sell.currency
  const sold = eight(content.sold) - (ofSell ? eight(fee.amount) : 0n)
  const bought = eight(content.bought) + (ofSell ? 0n : eight(fee.amount))
  const onClient = resource.book !== "org"
  return {
    conversionId: resource.id,
    pairId: world.idOf(`pair ${sell.currency}-${buy.currency}`),
    status: resource.status,
    ...(resource.status === "CANCELED" ? { reasonCode: "RATE_EXPIRED" } : {}),
    sellAccount: ref(sell),
    sellAmount: onClient ? content.sold : money(content.sold, sell.currency),
    buyAccount: ref(buy),
    buyAmount: onClient ? content.bought : money(content.bought, buy.currency),
    rate: rate(sold, one, bought, one),
    ...(onClient
      ? { feeAmount: fee.amount, feeCurrency: fee.currency }
      : { fee: money(fee.amount, fee.currency) }),
    createdAt: resource.createdAt,
  }
}

const external = ({ externalReference }: Said): Json =>
  externalReference === undefined ? {} : { externalReference }

const deposit = (world: World, resource: WorldResource): Json => {
  const { content, said } = resource
  if (content.type !== "DEPOSIT") throw new Error("no deposit")
  const into = accountOf(world, content.account)
  const onClient = resource.book !== "org"
  return {
    depositId: resource.id,
    account: ref(into),
    ...(onClient
      ? { amount: content.amount, currency: into.currency }
      : { amount: money(content.amount, into.currency) }),
    ...(content.fee === null
      ? {}
      : onClient
        ? { feeAmount: content.fee }
        : { fee: money(content.fee, into.currency) }),
    status: resource.status,
    ...(resource.transactionHash === null ? {} : { transactionHash: resource.transactionHash }),
    ...(said.remitter === undefined ? {} : { remitterName: said.remitter }),
    ...external(said),
    createdAt: resource.createdAt,
  }
}

const withdrawal = (world: World, resource: WorldResource): Json => {
  const { content, said } = resource
  if (content.type !== "WITHDRAWAL") throw new Error("no withdrawal")
  const from = accountOf(world, content.account)
  const { amount, fee } = content
  const delivered = decimal(units(amount, from.currency) - units(fee ?? "0", from.currency), from.currency)
  return {
    withdrawalId: resource.id,
    sourceAccount: ref(from),
    ...(resource.book !== "org"
      ? { amount, currency: from.currency, ...(fee === null ? {} : { feeAmount: fee }) }
      : {
          sourceAmount: money(amount, from.currency),
          destinationAmount: money(delivered, from.currency),
          fee: money(fee ?? decimal(0n, from.currency), from.currency),
        }),
    destination: destinationOf(said.destination, world.idOf),
    ...(said.text === undefined ? {} : { [resource.book === "org" ? "reference" : "purpose"]: said.text }),
    ...external(said),
    status: resource.status,
    ...(resource.transactionHash === null ? {} : { transactionHash: resource.transactionHash }),
    createdAt: resource.createdAt,
  }
}

const sound = (world: World, of: WorldResource): Json =>
  of.content.type === "CONVERSION"
    ? conversion(world, of)
    : of.content.type === "DEPOSIT"
      ? deposit(world, of)
      : withdrawal(world, of)

/** The key of the first amount that is sent. */
const amountKeyOf = (json: Json): string =>
  ["sourceAmount", "amount", "sellAmount"].find((key) => key in json) ?? "amount"

export const resource = (world: World, of: WorldResource): Json => {
  const json = sound(world, of)
  if (of.spoiled === "status") return { ...json, status: "ON_ITS_WAY" }
  if (of.spoiled === "missing") return { ...json, createdAt: undefined }
  if (of.spoiled === null) return json
  const key = amountKeyOf(json)
  const amount = json[key]
  return { ...json, [key]: isJson(amount) ? { ...amount, amount: "1e2" } : "1e2" }
}

export const client = (id: string, name: string, status: string): Json => ({
  clientId: id,
  code: `${name}-${id.slice(0, 4)}`,
  legalEntityName: `Client ${name}`,
  status,
})

export const receivable = (world: World, of: WorldReceivable): Json => {
  const transaction = ({ at, byId = false, of: name }: TransactionText): Json => ({
    txId: world.transactionId(name, byId),
    txTimestamp: at,
  })
  return {
    receivableId: of.id,
    clientId: world.idOf(of.client),
    issueDate: of.issued,
    initialPrincipal: of.initial,
    currentPrincipal: of.current,
    repaymentAmount: of.due,
    currency: of.currency,
    status: of.status,
    paymentTransaction: { txId: world.idOf(`payment ${of.receivable}`), txTimestamp: of.issued },
    ...(of.disbursed === null ? {} : { disbursedTransaction: transaction(of.disbursed) }),
    repaymentTransactions: of.repayments.map(transaction),
    paymentRails: "SWIFT",
  }
}

/** A credit account per currency: the sum of the active receivables. */
export const creditAccounts = (world: World): ReadonlyArray<Json> => {
  const totals = new Map<string, { principal: bigint; due: bigint }>()
  for (const { currency, current, due, status } of world.receivables.values()) {
    const total = totals.get(currency) ?? { principal: 0n, due: 0n }
    totals.set(currency, total)
    if (status !== "ACTIVE") continue
    total.principal += units(current, currency)
    total.due += units(due, currency)
  }
  return [...totals].map(([currency, { due, principal }]) => ({
    creditAccountId: world.idOf(`credit ${currency}`),
    currency,
    creditLimit: "1000000",
    availableBalance: "1000000",
    principalOutstanding: decimal(principal, currency),
    totalRepaymentAmount: decimal(due, currency),
    totalInterestAmount: decimal(due - principal, currency),
    status: "ACTIVE",
    paymentRails: "SWIFT",
  }))
}
