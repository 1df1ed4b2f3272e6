/** Amounts of the books as text for a person, at their currency's scale. */
import { scaleOf } from "./Currency.ts"
import * as Money from "./Money.ts"

/** An amount at its currency's scale; excess decimals, which no amount should have, are shown, never rounded. */
export const printed = (amount: string, currency: string): string => {
  const exact = Money.fromTrusted(amount)
  return Money.format(exact, Math.max(scaleOf(currency) ?? 0, Money.significantDecimals(exact)))
}

/** The amount with its currency: `12.50 EUR`. */
export const printedSum = (amount: string, currency: string): string =>
  `${printed(amount, currency)} ${currency}`
