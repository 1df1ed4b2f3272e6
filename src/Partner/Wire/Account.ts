import type { Account } from "../../Partner.ts"
import { amount, currency, text, uuid } from "./Fields.ts"
import { type Decoder, storable } from "./RowDecoder.ts"

export const decoder: Decoder<Account> = {
  idField: "accountId",
  decode: (row, source) => {
    const code = currency(row, "currency")
    return {
      accountId: uuid(row, "accountId"),
      currency: code,
      paymentRails: text(row, "paymentRails"),
      balance: amount(row, "balance", "$", code, "any"),
      status: text(row, "status"),
      raw: storable(source()),
    }
  },
}
