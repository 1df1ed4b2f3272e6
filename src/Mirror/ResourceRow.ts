/** A deposit, withdrawal or conversion as a row of `mirror.resources`, and back. */
import { Option } from "effect"
import * as Money from "../Common/Money.ts"
import { nullable, numeric, type RowOf, text, timestamptz, uuid } from "../Database/Columns.ts"
import type { Resource } from "../Partner.ts"

export const resourceColumns = {
  resource_type: text,
  resource_id: uuid,
  status: text,
  form: nullable(text),
  account_id: uuid,
  account_rail: text,
  currency: text,
  amount: numeric,
  fee: nullable(numeric),
  fee_currency: nullable(text),
  delivered: nullable(numeric),
  buy_account_id: nullable(uuid),
  buy_account_rail: nullable(text),
  buy_currency: nullable(text),
  buy_amount: nullable(numeric),
  rate: nullable(numeric),
  pair_id: nullable(uuid),
  reason_code: nullable(text),
  external_reference: nullable(text),
  counterparty: nullable(text),
  reference: nullable(text),
  destination_id: nullable(text),
  code: nullable(text),
  transaction_hash: nullable(text),
  created_at: timestamptz,
  completed_at: nullable(timestamptz),
}

/** The columns as text, the way they are sent and come back; amounts in the major unit of their currency. */
export interface ResourceRow extends RowOf<typeof resourceColumns> {
  readonly raw: string
}

/** States that a resource does not leave. `ACTIVE`, `HELD` and unknown states are open. */
const finalStates: ReadonlySet<string> = new Set(["COMPLETED", "CANCELED", "REJECTED"])

export const isFinalState = (status: string): boolean => finalStates.has(status)

export const isFinal = ({ status }: Resource): boolean => isFinalState(status)

const amountOf = (sum: Option.Option<Money.Money>): string | null =>
  Option.isSome(sum) ? Money.toText(sum.value.amount) : null

const currencyOf = (sum: Option.Option<Money.Money>): string | null =>
  Option.isSome(sum) ? sum.value.currency : null

/** The amounts and accounts of a resource, which is where the three kinds differ. */
const movementOf = (resource: Resource) => {
  switch (resource.resourceType) {
    case "DEPOSIT":
      return { account: resource.account, amount: resource.amount, fee: resource.fee }
    case "WITHDRAWAL":
      return { account: resource.sourceAccount, amount: resource.amount, fee: resource.fee }
    case "CONVERSION":
      return { account: resource.sellAccount, amount: resource.sellAmount, fee: Option.some(resource.fee) }
  }
}

/** One object literal with every column: hundreds of thousands of rows pass here. */
export const toRow = (resource: Resource): ResourceRow => {
  const { account, amount, fee } = movementOf(resource)
  const withdrawal = resource.resourceType === "WITHDRAWAL" ? resource : null
  const conversion = resource.resourceType === "CONVERSION" ? resource : null
  return {
    resource_type: resource.resourceType,
    resource_id: resource.id,
    status: resource.status,
    form: withdrawal === null ? null : withdrawal.form,
    account_id: account.accountId,
    account_rail: account.paymentRails,
    currency: amount.currency,
    amount: Money.toText(amount.amount),
    fee: amountOf(fee),
    fee_currency: currencyOf(fee),
    delivered: withdrawal === null ? null : amountOf(withdrawal.delivered),
    buy_account_id: conversion === null ? null : conversion.buyAccount.accountId,
    buy_account_rail: conversion === null ? null : conversion.buyAccount.paymentRails,
    buy_currency: conversion === null ? null : conversion.buyAmount.currency,
    buy_amount: conversion === null ? null : Money.toText(conversion.buyAmount.amount),
    rate: conversion === null ? null : Money.toText(conversion.rate),
    pair_id: conversion === null ? null : conversion.pairId,
    reason_code: Option.getOrNull(resource.reasonCode),
    external_reference: Option.getOrNull(resource.externalReference),
    counterparty: Option.getOrNull(resource.counterparty),
    reference: withdrawal === null ? null : Option.getOrNull(withdrawal.reference),
    destination_id: withdrawal === null ? null : Option.getOrNull(withdrawal.destinationId),
    code: Option.getOrNull(resource.code),
    transaction_hash: Option.getOrNull(resource.transactionHash),
    created_at: resource.createdAt,
    completed_at: conversion === null ? null : Option.getOrNull(conversion.completedAt),
    raw: resource.raw,
  }
}

const sum = (amount: string, currency: string): Money.Money => ({
  amount: Money.fromTrusted(amount),
  currency,
})

const optionalSum = (amount: string | null, currency: string | null): Option.Option<Money.Money> =>
  amount === null || currency === null ? Option.none() : Option.some(sum(amount, currency))

/**
 * Builds a resource from a row that this module wrote and the database's checks admitted; without `raw` where that was not
 * selected. The common fields are added last: an object literal that begins with them takes fifteen times as long, and every
 * entry passes here.
 */
export const fromRow = (row: Omit<ResourceRow, "raw">): Resource => {
  const account = { accountId: row.account_id, currency: row.currency, paymentRails: row.account_rail }
  const amount = sum(row.amount, row.currency)
  const fee = optionalSum(row.fee, row.fee_currency)
  const fields = {
    id: row.resource_id,
    status: row.status,
    reasonCode: Option.fromNullable(row.reason_code),
    externalReference: Option.fromNullable(row.external_reference),
    counterparty: Option.fromNullable(row.counterparty),
    code: Option.fromNullable(row.code),
    transactionHash: Option.fromNullable(row.transaction_hash),
    createdAt: row.created_at,
    raw: "",
  }
  if (row.resource_type === "DEPOSIT") return { resourceType: "DEPOSIT", account, amount, fee, ...fields }
  if (row.resource_type === "WITHDRAWAL") {
    return {
      resourceType: "WITHDRAWAL",
      sourceAccount: account,
      form: row.form === "flat" ? "flat" : "money",
      amount,
      delivered: optionalSum(row.delivered, row.currency),
      fee,
      reference: Option.fromNullable(row.reference),
      destinationId: Option.fromNullable(row.destination_id),
      ...fields,
    }
  }
  const buyCurrency = row.buy_currency ?? ""
  return {
    resourceType: "CONVERSION",
    pairId: row.pair_id ?? "",
    sellAccount: account,
    sellAmount: amount,
    buyAccount: {
      accountId: row.buy_account_id ?? "",
      currency: buyCurrency,
      paymentRails: row.buy_account_rail ?? "",
    },
    buyAmount: sum(row.buy_amount ?? "0", buyCurrency),
    rate: Money.fromTrusted(row.rate ?? "0"),
    fee: Option.getOrElse(fee, () => sum("0", row.currency)),
    completedAt: Option.fromNullable(row.completed_at),
    ...fields,
  }
}
