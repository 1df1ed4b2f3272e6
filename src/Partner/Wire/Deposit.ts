import { Option } from "effect"
import type { Deposit } from "../../Partner.ts"
import {
  accountRef,
  amount,
  currency,
  type Fields,
  inCurrency,
  instant,
  isFields,
  type MoneyFields,
  money,
  optional,
  optionalText,
  text,
  uuid,
} from "./Fields.ts"
import { type Decoder, storable } from "./RowDecoder.ts"

const flatAmount = (row: Fields) => {
  const code = currency(row, "currency")
  return { amount: amount(row, "amount", "$", code, "positive"), currency: code }
}

/** Both forms of the interface: Money objects (organization surface), decimals beside a currency (client surface). */
export const decoder = (names: MoneyFields): Decoder<Deposit> => ({
  idField: "depositId",
  decode: (row, source) => {
    const account = accountRef(row, "account")
    const isMoney = isFields(row.amount)
    const credited = isMoney ? money(row, "amount", "$", names, "positive") : flatAmount(row)
    inCurrency(credited, account.currency, isMoney ? "$.amount" : "$.currency", "the account")
    const stated = Option.orElse(
      optional(row, "fee", (fields, key, at) => money(fields, key, at, names, "notNegative")),
      () =>
        optional(row, "feeAmount", (fields, key, at) => ({
          amount: amount(fields, key, at, credited.currency, "notNegative"),
          currency: credited.currency,
        })),
    )
    const fee = Option.map(stated, (one) => inCurrency(one, account.currency, "$.fee", "the account"))
    return {
      resourceType: "DEPOSIT",
      id: uuid(row, "depositId"),
      account,
      amount: credited,
      fee,
      status: text(row, "status"),
      reasonCode: optionalText(row, "reasonCode"),
      externalReference: optionalText(row, "externalReference"),
      counterparty: optionalText(row, "remitterName"),
      code: optionalText(row, "code"),
      transactionHash: optionalText(row, "transactionHash"),
      createdAt: instant(row, "createdAt"),
      raw: storable(source()),
    }
  },
})
