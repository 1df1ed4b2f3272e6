/** What a part of a receivable moves, by the lender's roles: debit positive, in the major unit of its currency. */
import type { Amount } from "../../Common/Money.ts"
import * as Money from "../../Common/Money.ts"

const { add, negate, zero } = Money

export interface Amounts {
  readonly principal: Amount
  readonly interest: Amount
  readonly income: Amount
  /** Interest that was announced and is not paid yet, where it becomes income only when it is paid. */
  readonly deferred: Amount
  readonly cash: Amount
}

/** When interest is income: when the service tells of it, or when it is paid. */
export interface InterestPolicy {
  readonly interest: "as_stated" | "when_paid"
}

export const nothing: Amounts = { principal: zero, interest: zero, income: zero, deferred: zero, cash: zero }

export const disbursement = (principal: Amount): Amounts => ({
  ...nothing,
  principal,
  cash: negate(principal),
})

export const accrual = (interest: Amount, { interest: policy }: InterestPolicy): Amounts =>
  policy === "as_stated"
    ? { ...nothing, interest, income: negate(interest) }
    : { ...nothing, interest, deferred: negate(interest) }

export const repayment = (
  principal: Amount,
  interest: Amount,
  { interest: policy }: InterestPolicy,
): Amounts => ({
  principal: negate(principal),
  interest: negate(interest),
  income: policy === "as_stated" ? zero : negate(interest),
  deferred: policy === "as_stated" ? zero : interest,
  cash: add(principal, interest),
})

export const plus = (a: Amounts, b: Amounts): Amounts => ({
  principal: add(a.principal, b.principal),
  interest: add(a.interest, b.interest),
  income: add(a.income, b.income),
  deferred: add(a.deferred, b.deferred),
  cash: add(a.cash, b.cash),
})

export const minus = (a: Amounts): Amounts => ({
  principal: negate(a.principal),
  interest: negate(a.interest),
  income: negate(a.income),
  deferred: negate(a.deferred),
  cash: negate(a.cash),
})

export const isNothing = (a: Amounts): boolean =>
  Object.values(a).every((amount: Amount) => Money.isZero(amount))
