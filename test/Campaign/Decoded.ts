/** Turns the world's JSON into the port's types. It handles well-formed answers only, and shares nothing with the adapter's decoders. */
import { BigDecimal, Option } from "effect"
import type {
  Account,
  AccountRef,
  Client,
  Conversion,
  CreditAccount,
  Deposit,
  Receivable,
  Resource,
  ResourceType,
  StatementEntry,
  TransactionRef,
  Withdrawal,
} from "../../src/Partner.ts"

type Json = Record<string, unknown>

const text = (json: Json, key: string): string => String(json[key])
const optional = (json: Json, key: string): Option.Option<string> =>
  typeof json[key] === "string" ? Option.some(json[key]) : Option.none()
const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null
const object = (json: Json, key: string): Json => {
  const value = json[key]
  return isJson(value) ? value : {}
}

/** The exact amount, at the scale in which the text writes it. */
const amount = (written: string): BigDecimal.BigDecimal => {
  const point = written.indexOf(".")
  const scale = point < 0 ? 0 : written.length - point - 1
  return BigDecimal.make(BigInt(written.replace(".", "")), scale)
}

const raw = (json: Json): string => JSON.stringify(json)

const ref = (json: Json): AccountRef => ({
  accountId: text(json, "accountId"),
  currency: text(json, "currency"),
  paymentRails: text(json, "paymentRails"),
})

const money = (json: Json) => ({ amount: amount(text(json, "amount")), currency: text(json, "currency") })

export const account = (json: Json): Account => ({
  ...ref(json),
  balance: amount(text(json, "balance")),
  status: text(json, "status"),
  raw: raw(json),
})

export const entry = (json: Json): StatementEntry => ({
  entryId: text(json, "entryId"),
  accountId: text(json, "accountId"),
  type: json.type === "CREDIT" ? "CREDIT" : "DEBIT",
  amount: amount(text(json, "amount")),
  currency: text(json, "currency"),
  balanceBefore: Option.none(),
  balanceAfter: amount(text(json, "balanceAfter")),
  relatedResourceType: optional(json, "relatedResourceType"),
  relatedResourceId: optional(json, "relatedResourceId"),
  occurredAt: text(json, "occurredAt"),
  extra: null,
})

const common = (json: Json, idField: string) => ({
  id: text(json, idField),
  status: text(json, "status"),
  reasonCode: optional(json, "reasonCode"),
  externalReference: optional(json, "externalReference"),
  counterparty: Option.none<string>(),
  code: Option.none<string>(),
  transactionHash: optional(json, "transactionHash"),
  createdAt: text(json, "createdAt"),
  raw: raw(json),
})

const flatMoney = (json: Json, key: string, currency: string) =>
  Option.map(optional(json, key), (written) => ({ amount: amount(written), currency }))

export const deposit = (json: Json): Deposit => {
  const into = ref(object(json, "account"))
  const flat = typeof json.amount === "string"
  return {
    ...common(json, "depositId"),
    counterparty: optional(json, "remitterName"),
    resourceType: "DEPOSIT",
    account: into,
    amount: flat
      ? { amount: amount(text(json, "amount")), currency: into.currency }
      : money(object(json, "amount")),
    fee: flat
      ? flatMoney(json, "feeAmount", into.currency)
      : isJson(json.fee)
        ? Option.some(money(json.fee))
        : Option.none(),
  }
}

export const withdrawal = (json: Json): Withdrawal => {
  const source = ref(object(json, "sourceAccount"))
  const destination = object(json, "destination")
  /** The counterparty in the adapter's form: bank and account, or network and wallet. */
  const part = (ofBank: string, ofWallet: string): string =>
    text(destination, ofBank in destination ? ofBank : ofWallet)
  const flat = typeof json.amount === "string"
  return {
    ...common(json, "withdrawalId"),
    counterparty: Option.some(`${part("bankName", "network")}, ${part("accountNumber", "walletAddress")}`),
    resourceType: "WITHDRAWAL",
    sourceAccount: source,
    form: flat ? "flat" : "money",
    amount: flat
      ? { amount: amount(text(json, "amount")), currency: source.currency }
      : money(object(json, "sourceAmount")),
    delivered: flat ? Option.none() : Option.some(money(object(json, "destinationAmount"))),
    fee: flat ? flatMoney(json, "feeAmount", source.currency) : Option.some(money(object(json, "fee"))),
    reference: optional(json, flat ? "purpose" : "reference"),
    destinationId: optional(destination, "destinationId"),
  }
}

const conversion = (json: Json): Conversion => {
  const sellAccount = ref(object(json, "sellAccount"))
  const buyAccount = ref(object(json, "buyAccount"))
  const leg = (key: string, currency: string) =>
    isJson(json[key]) ? money(json[key]) : { amount: amount(text(json, key)), currency }
  return {
    ...common(json, "conversionId"),
    resourceType: "CONVERSION",
    pairId: text(json, "pairId"),
    sellAccount,
    sellAmount: leg("sellAmount", sellAccount.currency),
    buyAccount,
    buyAmount: leg("buyAmount", buyAccount.currency),
    rate: amount(text(json, "rate")),
    fee: isJson(json.fee)
      ? money(json.fee)
      : { amount: amount(text(json, "feeAmount")), currency: text(json, "feeCurrency") },
    completedAt: Option.none(),
  }
}

export const resource =
  (type: ResourceType) =>
  (json: Json): Resource =>
    type === "DEPOSIT" ? deposit(json) : type === "WITHDRAWAL" ? withdrawal(json) : conversion(json)

export const client = (json: Json): Client => ({
  id: text(json, "clientId"),
  label: Option.some(text(json, "legalEntityName")),
  code: text(json, "code"),
  legalEntityName: text(json, "legalEntityName"),
  status: text(json, "status"),
  raw: raw(json),
})

const transaction = (json: Json): TransactionRef => ({
  txId: text(json, "txId"),
  txTimestamp: text(json, "txTimestamp"),
})

export const receivable = (json: Json): Receivable => {
  const { repaymentTransactions: repayments } = json
  return {
    id: text(json, "receivableId"),
    clientId: text(json, "clientId"),
    issueDate: text(json, "issueDate"),
    initialPrincipal: amount(text(json, "initialPrincipal")),
    currentPrincipal: amount(text(json, "currentPrincipal")),
    repaymentAmount: amount(text(json, "repaymentAmount")),
    currency: text(json, "currency"),
    status: text(json, "status"),
    paymentRails: text(json, "paymentRails"),
    paymentTransaction: Option.some(transaction(object(json, "paymentTransaction"))),
    disbursedTransaction: isJson(json.disbursedTransaction)
      ? Option.some(transaction(json.disbursedTransaction))
      : Option.none(),
    repaymentTransactions: Array.isArray(repayments) ? repayments.filter(isJson).map(transaction) : [],
    raw: raw(json),
  }
}

export const creditAccount = (json: Json): CreditAccount => ({
  id: text(json, "creditAccountId"),
  label: Option.none(),
  currency: text(json, "currency"),
  paymentRails: text(json, "paymentRails"),
  principalOutstanding: amount(text(json, "principalOutstanding")),
  totalRepaymentAmount: amount(text(json, "totalRepaymentAmount")),
  clientId: Option.none(),
  raw: raw(json),
})
