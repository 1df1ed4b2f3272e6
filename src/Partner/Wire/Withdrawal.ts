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
  movedSign,
  object,
  optional,
  optionalText,
  type Sign,
  text,
  uuid,
} from "./Fields.ts"
import { counterparty } from "./ReferenceItem.ts"
import { type Decoder, storable } from "./RowDecoder.ts"

type Amounts = Pick<Withdrawal, "form" | "amount" | "delivered" | "fee">

const moneyForm = (row: Fields, names: MoneyFields, accountCurrency: string, sign: Sign): Amounts => {
  // "`destinationAmount` delivered (equals `sourceAmount` less `fee`)": all three in one currency.
  const one = (key: string, of: Sign) =>
    inCurrency(money(row, key, "$", names, of), accountCurrency, `$.${key}`, "the source account")
  const amount = one("sourceAmount", sign)
  const delivered = one("destinationAmount", "notNegative")
  const fee = one("fee", "notNegative")
  return { form: "money", amount, delivered: Option.some(delivered), fee: Option.some(fee) }
}

const flatForm = (row: Fields, accountCurrency: string, sign: Sign): Amounts => {
  const code = currency(row, "currency")
  const sent = { amount: amount(row, "amount", "$", code, sign), currency: code }
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
    const status = text(row, "status")
    const sign = movedSign(status)
    const {
      amount: moved,
      delivered,
      fee,
      form,
    } = isAbsent(row.sourceAmount)
      ? flatForm(row, sourceAccount.currency, sign)
      : moneyForm(row, names, sourceAccount.currency, sign)
    const destination = object(row, "destination")
    return {
      resourceType: "WITHDRAWAL",
      id: uuid(row, "withdrawalId"),
      sourceAccount,
      form,
      amount: moved,
      delivered,
      fee,
      status,
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
