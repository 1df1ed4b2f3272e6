/**
 * Cash of loans that is waited for: what a version says was paid out or repaid, and no statement has shown yet. Leg by leg,
 * since a payout and a repayment that nobody has seen cancel each other in loan clearing.
 */
import type { Amount } from "../../Common/Money.ts"
import * as Money from "../../Common/Money.ts"
import type { Instant } from "../../Partner.ts"
import type { Booked } from "./ReceivableSteps.ts"
import type { Transaction } from "./ReceivableVersion.ts"
import type { Purpose } from "./Sharing.ts"

export interface WaitingLeg {
  readonly purpose: Purpose
  readonly version: number
  /** What is still to come, in the major unit of the receivable's currency; positive. */
  readonly amount: Amount
  readonly occurredAt: Instant
  /** The transactions that are to bring it; none where the service names none. */
  readonly txIds: ReadonlyArray<string>
  /** Nothing of what the version takes of loan clearing has come. */
  readonly whole: boolean
}

const { isPositive, subtract, total } = Money

const unseen = (transactions: ReadonlyArray<Transaction>): ReadonlyArray<string> =>
  transactions.flatMap(({ cash, txId }) => (cash._tag === "None" ? [txId] : []))

/** What a part of a version waits for, given what of it has come; none where that is all. */
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

/** The legs without so much, of the first ones first. */
const lessened = (legs: ReadonlyArray<WaitingLeg>, by: Amount): ReadonlyArray<WaitingLeg> => {
  let left = by
  return legs.flatMap((leg): ReadonlyArray<WaitingLeg> => {
    if (!isPositive(left)) return [leg]
    const amount = subtract(leg.amount, left)
    left = subtract(left, leg.amount)
    return isPositive(amount) ? [{ ...leg, amount, whole: false }] : []
  })
}

/** At most `open` is waited for: what other transactions brought beyond what is due settles the first legs first. */
export const limited = (legs: ReadonlyArray<WaitingLeg>, open: Amount): ReadonlyArray<WaitingLeg> =>
  lessened(legs, subtract(total(legs.map(({ amount }) => amount)), open))

/** What was repaid is owed again: the last repayments are not waited for any more. */
export const withoutRepaid = (legs: ReadonlyArray<WaitingLeg>, amount: Amount): ReadonlyArray<WaitingLeg> => [
  ...legs.filter(({ purpose }) => purpose === "disbursement"),
  ...[
    ...lessened(
      [...legs].reverse().filter(({ purpose }) => purpose === "repayment"),
      amount,
    ),
  ].reverse(),
]
