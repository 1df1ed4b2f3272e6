import { type Currency, printAmount } from "../World/SandboxCurrency.ts"
import type { WithdrawalStatus } from "../World/WorldTables.ts"
import type { Wire } from "./Wire.ts"

/** How a surface writes amounts and what hangs on them; members are given with the comma that follows them. */
export interface Form {
  readonly flat: boolean
  readonly amount: (minor: bigint, currency: Currency) => string
  /** The amount of a deposit and its fee, which is negative where none is stated. */
  readonly deposit: (amount: bigint, fee: bigint, currency: Currency) => string
  readonly withdrawal: (amount: bigint, fee: bigint, currency: Currency) => string
  readonly conversionFee: (fee: bigint, currency: Currency) => string
  readonly withdrawalStatus: (status: WithdrawalStatus) => WithdrawalStatus
  /** The name of a withdrawal's text. */
  readonly text: "reference" | "purpose"
}

/** The organization's: amounts as Money objects. */
export const moneyForm = (wire: Wire): Form => {
  const amountKey = JSON.stringify(wire.amountField)
  const currencyKey = JSON.stringify(wire.currencyField)
  const money = (minor: bigint, currency: Currency) =>
    `{${amountKey}:"${printAmount(minor, currency)}",${currencyKey}:"${currency.code}"}`
  return {
    flat: false,
    amount: money,
    deposit: (amount, fee, currency) =>
      `"amount":${money(amount, currency)},${fee < 0n ? "" : `"fee":${money(fee, currency)},`}`,
    withdrawal: (amount, fee, currency) =>
      `"sourceAmount":${money(amount, currency)},` +
      `"destinationAmount":${money(amount - fee, currency)},"fee":${money(fee, currency)},`,
    conversionFee: (fee, currency) => `"fee":${money(fee, currency)}`,
    withdrawalStatus: (status) => status,
    text: "reference",
  }
}

/** The clients': amounts as decimals beside one currency. */
export const flatForm: Form = {
  flat: true,
  amount: (minor, currency) => `"${printAmount(minor, currency)}"`,
  deposit: (amount, fee, currency) =>
    `"amount":"${printAmount(amount, currency)}",` +
    `${fee < 0n ? "" : `"feeAmount":"${printAmount(fee, currency)}",`}"currency":"${currency.code}",`,
  // A fee is optional here: where there is none, it is left out or zero.
  withdrawal: (amount, fee, currency) =>
    `"amount":"${printAmount(amount, currency)}",` +
    `${fee === 0n && amount % 2n === 0n ? "" : `"feeAmount":"${printAmount(fee, currency)}",`}` +
    `"currency":"${currency.code}",`,
  conversionFee: (fee, currency) =>
    `"feeAmount":"${printAmount(fee, currency)}","feeCurrency":"${currency.code}"`,
  withdrawalStatus: (status) => (status === "PENDING_CONFIRMATION" ? "PENDING" : status),
  text: "purpose",
}
