import { Option } from "effect"
import { isZero, type Money } from "../../Common/Money.ts"
import type { Conversion } from "../../Partner.ts"
import {
  accountRef,
  amount,
  currency,
  decimal,
  Fault,
  type Fields,
  inCurrency,
  instant,
  isFields,
  type MoneyFields,
  money,
  optional,
  optionalText,
  type Sign,
  text,
  uuid,
} from "./Fields.ts"
import { type Decoder, storable } from "./RowDecoder.ts"

/** A leg's amount: a Money object, or a decimal in the currency of the leg's account. */
const leg = (row: Fields, key: string, names: MoneyFields, accountCurrency: string, sign: Sign): Money =>
  isFields(row[key])
    ? inCurrency(money(row, key, "$", names, sign), accountCurrency, `$.${key}`, "the account")
    : { amount: amount(row, key, "$", accountCurrency, sign), currency: accountCurrency }

const feeOf = (row: Fields, names: MoneyFields): Money => {
  if (isFields(row.fee)) return money(row, "fee", "$", names, "notNegative")
  const code = currency(row, "feeCurrency")
  return { amount: amount(row, "feeAmount", "$", code, "notNegative"), currency: code }
}

/** Both forms of the interface: Money objects (organization surface), decimals and `feeCurrency` (client surface). */
export const decoder = (names: MoneyFields): Decoder<Conversion> => ({
  idField: "conversionId",
  decode: (row, source) => {
    const sellAccount = accountRef(row, "sellAccount")
    const buyAccount = accountRef(row, "buyAccount")
    const fee = feeOf(row, names)
    const status = text(row, "status")
    const isCanceled = status === "CANCELED"
    const sides = [sellAccount.currency, buyAccount.currency]
    // The fee is in the pair's ISO 4217 currency; a pair without one has to name some currency for no fee.
    if (!isZero(fee.amount) && !sides.includes(fee.currency)) {
      throw new Fault("$.fee", `is in ${fee.currency}, which is neither side (${sides.join(", ")})`)
    }
    return {
      resourceType: "CONVERSION",
      id: uuid(row, "conversionId"),
      pairId: uuid(row, "pairId"),
      sellAccount,
      sellAmount: leg(
        row,
        "sellAmount",
        names,
        sellAccount.currency,
        isCanceled ? "notNegative" : "positive",
      ),
      buyAccount,
      // A conversion that was canceled sold and bought nothing, at whatever rate.
      buyAmount: leg(row, "buyAmount", names, buyAccount.currency, "notNegative"),
      rate: decimal(row, "rate", "$", isCanceled ? "notNegative" : "positive"),
      fee,
      status,
      reasonCode: optionalText(row, "reasonCode"),
      externalReference: optionalText(row, "externalReference"),
      counterparty: Option.none(),
      code: optionalText(row, "code"),
      transactionHash: optionalText(row, "transactionHash"),
      createdAt: instant(row, "createdAt"),
      completedAt: optional(row, "completedAt", instant),
      raw: storable(source()),
    }
  },
})
