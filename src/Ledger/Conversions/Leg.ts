/** What one account should see of a movement: the resource's amounts from that account's point of view. */
import { Option } from "effect"
import type { Amount, Money as Sum } from "../../Common/Money.ts"
import * as Money from "../../Common/Money.ts"
import type { Conversion, Resource, StatementEntry, Withdrawal } from "../../Partner.ts"
import type { Leg } from "../Allocation.ts"

/** `accounting.flatWithdrawalFee`: whether a flat withdrawal whose entries total its amount has its fee inside. */
export type FlatWithdrawalFee = "inside" | "none"

const inCurrency = (fee: Option.Option<Sum>, currency: string): Amount =>
  Option.isSome(fee) && fee.value.currency === currency ? fee.value.amount : Money.zero

/** In the Money form by definition; in the flat form once the withdrawal is completed, unless the settings say no. */
const withdrawalFeeInside = (withdrawal: Withdrawal, flat: FlatWithdrawalFee): boolean =>
  withdrawal.form === "money" || (flat === "inside" && withdrawal.status === "COMPLETED")

const conversionLeg = (
  conversion: Conversion,
  entry: Pick<StatementEntry, "accountId" | "currency">,
): Leg => {
  const { sellAccount, buyAccount, sellAmount, buyAmount, fee } = conversion
  const sold = entry.accountId === sellAccount.accountId
  const bought = !sold && entry.accountId === buyAccount.accountId
  // The account shows which side an entry is on. An entry on any other account shows no fee, and its currency only selects a
  // name.
  const stated = sold || bought ? Option.some(fee) : Option.none()
  if (sold || (!bought && entry.currency === sellAmount.currency)) {
    const charged = inCurrency(stated, sellAmount.currency)
    return { direction: "out", amount: sellAmount.amount, fee: charged, feeInside: true, net: false }
  }
  // Where both sides have one currency the fee is the sell side's.
  const charged =
    sellAmount.currency === buyAmount.currency ? Money.zero : inCurrency(stated, buyAmount.currency)
  return { direction: "in", amount: buyAmount.amount, fee: charged, feeInside: false, net: true }
}

/** The leg of `resource` on the account of `entry`. */
export const legOf = (
  resource: Resource,
  entry: Pick<StatementEntry, "accountId" | "currency">,
  flat: FlatWithdrawalFee,
): Leg => {
  switch (resource.resourceType) {
    case "DEPOSIT": {
      const fee = inCurrency(resource.fee, entry.currency)
      return { direction: "in", amount: resource.amount.amount, fee, feeInside: false, net: false }
    }
    case "WITHDRAWAL": {
      const fee = inCurrency(resource.fee, entry.currency)
      const feeInside = withdrawalFeeInside(resource, flat)
      return { direction: "out", amount: resource.amount.amount, fee, feeInside, net: false }
    }
    case "CONVERSION":
      return conversionLeg(resource, entry)
  }
}
