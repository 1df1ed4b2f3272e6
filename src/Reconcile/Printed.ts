import { scaleOf } from "../Common/Currency.ts"
import * as Money from "../Common/Money.ts"

/** Our own amount at its currency's scale; more decimals, which no amount should have, are shown and never rounded. */
export const printed = (amount: string, currency: string): string => {
  const exact = Money.fromTrusted(amount)
  return Money.format(exact, Math.max(scaleOf(currency) ?? 0, Money.significantDecimals(exact)))
}

/** The same with the currency: `12.50 EUR`. */
export const printedSum = (amount: string, currency: string): string =>
  `${printed(amount, currency)} ${currency}`
