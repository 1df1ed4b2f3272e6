import { Option } from "effect"
import type { Withdrawal } from "../../Partner.ts"
import {
  accountRef,
  amount,
  currency,
  type Fields,
  inCurrency,
  instant,
  isAbsent,
  type MoneyFields,
  money,
  object,
  optional,
  optionalText,
  text,
  uuid,
} from "./Fields.ts"
import { counterparty } from "./ReferenceItem.ts"
import { type Decoder, storable } from "./RowDecoder.ts"

type Amounts = Pick<Withdrawal, "form" | "amount" | "delivered" | "fee">

const moneyForm = (row: Fields, names: MoneyFields, accountCurrency: string): Amounts => {
  // "`destinationAmount` delivered (equals `sourceAmount` less `fee`)": all three in one currency.
  const one = (key: string, sign: "positive" | "notNegative") =>
    inCurrency(money(row, key, "$", names, sign), accountCurrency, `$.${key}`, "the source account")
  const amount = one("sourceAmount", "positive")
  const delivered = one("destinationAmount", "notNegative")
  const fee = one("fee", "notNegative")
  return { form: "money", amount, delivered: Option.some(delivered), fee: Option.some(fee) }
}

const flatForm = (row: Fields, accountCurrency: string): Amounts => {
  const code = currency(row, "currency")
  const sent = { amount: amount(row, "amount", "$", code, "positive"), currency: code }
  inCurrency(sent, accountCurrency, "$.currency", "the source account")
  const fee = optional(row, "feeAmount", (fields, key, at) => ({
    amount: amount(fields, key, at, code, "notNegative"),
    currency: code,
  }))
  return { form: "flat", amount: sent, delivered: Option.none(), fee }
}

/** A `sourceAmount` marks the Money form; without one it is the flat form. */
export const decoder = (names: MoneyFields): Decoder<Withdrawal> => ({
  idField: "withdrawalId",
  decode: (row, source) => {
    const sourceAccount = accountRef(row, "sourceAccount")
    const {
      amount: moved,
      delivered,
      fee,
      form,
    } = isAbsent(row.sourceAmount)
      ? flatForm(row, sourceAccount.currency)
      : moneyForm(row, names, sourceAccount.currency)
    const destination = object(row, "destination")
    return {
      resourceType: "WITHDRAWAL",
      id: uuid(row, "withdrawalId"),
      sourceAccount,
      form,
      amount: moved,
      delivered,
      fee,
      status: text(row, "status"),
      reasonCode: optionalText(row, "reasonCode"),
      externalReference: optionalText(row, "externalReference"),
      reference: optionalText(row, form === "money" ? "reference" : "purpose"),
      counterparty: counterparty(destination, "$.destination"),
      destinationId: optional(destination, "destinationId", uuid, "$.destination"),
      code: optionalText(row, "code"),
      transactionHash: optionalText(row, "transactionHash"),
      createdAt: instant(row, "createdAt"),
      raw: storable(source()),
    }
  },
})
