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
  movedSign,
  optional,
  optionalText,
  type Sign,
  text,
  uuid,
} from "./Fields.ts"
import { type Decoder, storable } from "./RowDecoder.ts"

const flatAmount = (row: Fields, sign: Sign) => {
  const code = currency(row, "currency")
  return { amount: amount(row, "amount", "$", code, sign), currency: code }
}

/** Both forms of the interface: Money objects (organization surface), decimals beside a currency (client surface). */
export const decoder = (names: MoneyFields): Decoder<Deposit> => ({
  idField: "depositId",
  decode: (row, source) => {
    const account = accountRef(row, "account")
    const status = text(row, "status")
    const isMoney = isFields(row.amount)
    const sign = movedSign(status)
    const credited = isMoney ? money(row, "amount", "$", names, sign) : flatAmount(row, sign)
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
      status,
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
