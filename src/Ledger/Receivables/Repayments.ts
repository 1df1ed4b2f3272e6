/** What each repayment paid, the oldest first. A repayment that the service takes back is the last one. */
import * as Money from "../../Common/Money.ts"
import { type Amount, isZero, max, min, subtract, zero } from "../../Common/Money.ts"

export interface Paid {
  readonly principal: Amount
  readonly interest: Amount
}

/** The interest that was paid by the last repayments, which paid so much principal together. */
export const interestOfLast = (repayments: ReadonlyArray<Paid>, principal: Amount): Amount => {
  let interest = zero
  let left = principal
  for (const paid of repayments.toReversed()) {
    if (!Money.isPositive(left)) break
    left = subtract(left, paid.principal)
    interest = Money.add(interest, paid.interest)
  }
  return interest
}

/** With one more; where it is negative, without so much of the last ones. */
export const withRepayment = (repayments: ReadonlyArray<Paid>, paid: Paid): ReadonlyArray<Paid> => {
  let principal = max(Money.negate(paid.principal), zero)
  let interest = max(Money.negate(paid.interest), zero)
  const left = repayments
    .toReversed()
    .map((one): Paid => {
      const back = { principal: min(one.principal, principal), interest: min(one.interest, interest) }
      principal = subtract(principal, back.principal)
      interest = subtract(interest, back.interest)
      return {
        principal: subtract(one.principal, back.principal),
        interest: subtract(one.interest, back.interest),
      }
    })
    .toReversed()
  return [...left, { principal: max(paid.principal, zero), interest: max(paid.interest, zero) }].filter(
    (one) => !(isZero(one.principal) && isZero(one.interest)),
  )
}
