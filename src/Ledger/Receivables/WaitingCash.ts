/**
 * Loan cash that is waited for: paid out or repaid by what a version states, and not shown by any statement yet. Kept leg by
 * leg, since an unseen payout and an unseen repayment cancel each other in loan clearing.
 */
import type { Amount } from "../../Common/Money.ts"
import * as Money from "../../Common/Money.ts"
import type { Instant } from "../../Partner/Instant.ts"
import type { Purpose } from "./Claims.ts"
import type { Booked } from "./ReceivableSteps.ts"
import type { Transaction } from "./ReceivableVersion.ts"

export interface WaitingLeg {
  readonly purpose: Purpose
  readonly version: number
  /** What is still to come, in the major unit of the receivable's currency; positive. */
  readonly amount: Amount
  readonly occurredAt: Instant
  /** The transactions that are to bring it; none where the service names none. */
  readonly txIds: ReadonlyArray<string>
  /** None of the cash that the version takes off loan clearing has come. */
  readonly whole: boolean
}

const { isPositive, subtract, total } = Money

const unseen = (transactions: ReadonlyArray<Transaction>): ReadonlyArray<string> =>
  transactions.flatMap(({ cash, txId }) => (cash._tag === "None" ? [txId] : []))

/** The cash that a part of a version still waits for; none if all of it has come. */
export const legOf = (
  purpose: Purpose,
  { amounts, occurredAt, version }: Booked,
  transactions: ReadonlyArray<Transaction>,
  come: Amount,
): ReadonlyArray<WaitingLeg> => {
  const due = purpose === "repayment" ? amounts.cash : Money.negate(amounts.cash)
  const amount = subtract(due, come)
  const whole = Money.isZero(come)
  return isPositive(amount)
    ? [{ purpose, version, amount, occurredAt, txIds: unseen(transactions), whole }]
    : []
}

/** The legs less an amount, which is taken off the first legs first. */
const lessened = (legs: ReadonlyArray<WaitingLeg>, by: Amount): ReadonlyArray<WaitingLeg> => {
  let left = by
  return legs.flatMap((leg): ReadonlyArray<WaitingLeg> => {
    if (!isPositive(left)) return [leg]
    const amount = subtract(leg.amount, left)
    left = subtract(left, leg.amount)
    return isPositive(amount) ? [{ ...leg, amount, whole: false }] : []
  })
}

/** At most `open` is waited for: an excess that other transactions brought settles the first legs first. */
export const limited = (legs: ReadonlyArray<WaitingLeg>, open: Amount): ReadonlyArray<WaitingLeg> =>
  lessened(legs, subtract(total(legs.map(({ amount }) => amount)), open))

/** A repaid amount is owed again: the last repayments are no longer waited for. */
export const withoutRepaid = (legs: ReadonlyArray<WaitingLeg>, amount: Amount): ReadonlyArray<WaitingLeg> => [
  ...legs.filter(({ purpose }) => purpose === "disbursement"),
  ...[
    ...lessened(
      [...legs].reverse().filter(({ purpose }) => purpose === "repayment"),
      amount,
    ),
  ].reverse(),
]
