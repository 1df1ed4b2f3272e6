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
import { isJson, type Json, textAt } from "./Json.ts"

const optional = (json: Json, key: string): Option.Option<string> =>
  typeof json[key] === "string" ? Option.some(json[key]) : Option.none()
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
  accountId: textAt(json, "accountId"),
  currency: textAt(json, "currency"),
  paymentRails: textAt(json, "paymentRails"),
})

const money = (json: Json) => ({ amount: amount(textAt(json, "amount")), currency: textAt(json, "currency") })

export const account = (json: Json): Account => ({
  ...ref(json),
  balance: amount(textAt(json, "balance")),
  status: textAt(json, "status"),
  raw: raw(json),
})

export const entry = (json: Json): StatementEntry => ({
  entryId: textAt(json, "entryId"),
  accountId: textAt(json, "accountId"),
  type: json.type === "CREDIT" ? "CREDIT" : "DEBIT",
  amount: amount(textAt(json, "amount")),
  currency: textAt(json, "currency"),
  balanceBefore: Option.none(),
  balanceAfter: amount(textAt(json, "balanceAfter")),
  relatedResourceType: optional(json, "relatedResourceType"),
  relatedResourceId: optional(json, "relatedResourceId"),
  occurredAt: textAt(json, "occurredAt"),
  extra: null,
})

const common = (json: Json, idField: string) => ({
  id: textAt(json, idField),
  status: textAt(json, "status"),
  reasonCode: optional(json, "reasonCode"),
  externalReference: optional(json, "externalReference"),
  counterparty: Option.none<string>(),
  code: Option.none<string>(),
  transactionHash: optional(json, "transactionHash"),
  createdAt: textAt(json, "createdAt"),
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
      ? { amount: amount(textAt(json, "amount")), currency: into.currency }
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
    textAt(destination, ofBank in destination ? ofBank : ofWallet)
  const flat = typeof json.amount === "string"
  return {
    ...common(json, "withdrawalId"),
    counterparty: Option.some(`${part("bankName", "network")}, ${part("accountNumber", "walletAddress")}`),
    resourceType: "WITHDRAWAL",
    sourceAccount: source,
    form: flat ? "flat" : "money",
    amount: flat
      ? { amount: amount(textAt(json, "amount")), currency: source.currency }
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
    isJson(json[key]) ? money(json[key]) : { amount: amount(textAt(json, key)), currency }
  return {
    ...common(json, "conversionId"),
    resourceType: "CONVERSION",
    pairId: textAt(json, "pairId"),
    sellAccount,
    sellAmount: leg("sellAmount", sellAccount.currency),
    buyAccount,
    buyAmount: leg("buyAmount", buyAccount.currency),
    rate: amount(textAt(json, "rate")),
    fee: isJson(json.fee)
      ? money(json.fee)
      : { amount: amount(textAt(json, "feeAmount")), currency: textAt(json, "feeCurrency") },
    completedAt: Option.none(),
  }
}

export const resource =
  (type: ResourceType) =>
  (json: Json): Resource =>
    type === "DEPOSIT" ? deposit(json) : type === "WITHDRAWAL" ? withdrawal(json) : conversion(json)

export const client = (json: Json): Client => ({
  id: textAt(json, "clientId"),
  label: Option.some(textAt(json, "legalEntityName")),
  code: textAt(json, "code"),
  legalEntityName: textAt(json, "legalEntityName"),
  status: textAt(json, "status"),
  raw: raw(json),
})

const transaction = (json: Json): TransactionRef => ({
  txId: textAt(json, "txId"),
  txTimestamp: textAt(json, "txTimestamp"),
})

export const receivable = (json: Json): Receivable => {
  const { repaymentTransactions: repayments } = json
  return {
    id: textAt(json, "receivableId"),
    clientId: textAt(json, "clientId"),
    issueDate: textAt(json, "issueDate"),
    initialPrincipal: amount(textAt(json, "initialPrincipal")),
    currentPrincipal: amount(textAt(json, "currentPrincipal")),
    repaymentAmount: amount(textAt(json, "repaymentAmount")),
    currency: textAt(json, "currency"),
    status: textAt(json, "status"),
    paymentRails: textAt(json, "paymentRails"),
    paymentTransaction: Option.some(transaction(object(json, "paymentTransaction"))),
    disbursedTransaction: isJson(json.disbursedTransaction)
      ? Option.some(transaction(json.disbursedTransaction))
      : Option.none(),
    repaymentTransactions: Array.isArray(repayments) ? repayments.filter(isJson).map(transaction) : [],
    raw: raw(json),
  }
}

export const creditAccount = (json: Json): CreditAccount => ({
  id: textAt(json, "creditAccountId"),
  label: Option.none(),
  currency: textAt(json, "currency"),
  paymentRails: textAt(json, "paymentRails"),
  principalOutstanding: amount(textAt(json, "principalOutstanding")),
  totalRepaymentAmount: amount(textAt(json, "totalRepaymentAmount")),
  clientId: Option.none(),
  raw: raw(json),
})
