/** What the books hold of one receivable between two of its versions. */
import { Option } from "effect"
import {
  type Amount,
  add,
  isNegative,
  isPositive,
  max,
  min,
  negate,
  subtract,
  zero,
} from "../../Common/Money.ts"
import type { Instant } from "../../Partner/Instant.ts"
import { type Amounts, nothing } from "./ReceivableAmounts.ts"
import type { Paid } from "./Repayments.ts"

/** What the books hold of the receivable, by the lender's signs. */
export interface ReceivableBalance {
  readonly disbursed: boolean
  readonly principal: Amount
  readonly interest: Amount
  /** Interest that the service has announced so far (`original` only). */
  readonly announced: Amount
  /** When the receivable was last read: since then interest may have accrued that no version shows. */
  readonly readAt: Instant
  /** Everything booked, to be taken back if it is cancelled. */
  readonly sums: Amounts
  /** What its repayments settled so far, without what was taken back. */
  readonly repaid: Paid
  /** The same, repayment by repayment. */
  readonly repayments: ReadonlyArray<Paid>
  /** The known cash of all its repayments. */
  readonly cash: Amount
  /** What was taken back of repayments and not repaid since. */
  readonly takenBack: Amount
  /** The interest in it. */
  readonly takenBackInterest: Amount
  /** Of the interest that was paid, what no version had announced (`original`): later versions may. */
  readonly paidUnannounced: Amount
  /** While it is PAID: the interest that was paid with it, and `paidUnannounced` as it was before. */
  readonly closed: Option.Option<{ readonly interest: Amount; readonly paidUnannounced: Amount }>
}

/** Before the first version: the receivable was issued. */
export const start = (issuedAt: Instant): ReceivableBalance => ({
  disbursed: false,
  principal: zero,
  interest: zero,
  announced: zero,
  readAt: issuedAt,
  sums: nothing,
  repaid: { principal: zero, interest: zero },
  repayments: [],
  cash: zero,
  takenBack: zero,
  takenBackInterest: zero,
  paidUnannounced: zero,
  closed: Option.none(),
})

/** The cash of repayments that were taken back, as far as it is there and pays for nothing else: it pays for what is repaid next. */
export const freeCash = ({ cash, repaid, takenBack }: ReceivableBalance): Amount =>
  max(min(subtract(cash, add(repaid.principal, repaid.interest)), takenBack), zero)

/**
 * Whether a version that repays so much principal and names no transaction only shows again what was taken back: then that cash is
 * what it pays, and no other.
 */
export const paysAgain = (before: ReceivableBalance, principal: Amount): boolean => {
  const free = freeCash(before)
  return isPositive(free) && !isNegative(subtract(free, principal))
}

/** Whether a version that settles so much interest and no principal only shows again what was taken back, whose cash stays. */
export const paysInterestAgain = (before: ReceivableBalance, interest: Amount): boolean =>
  isPositive(interest) &&
  isPositive(freeCash(before)) &&
  !isNegative(subtract(before.takenBackInterest, interest))

/** Of the free cash, what had paid principal and is more than this principal: it pays no interest. */
export const idleCash = (before: ReceivableBalance, principal: Amount): Amount => {
  const free = freeCash(before)
  const ofPrincipal = subtract(free, min(free, before.takenBackInterest))
  return max(subtract(ofPrincipal, max(principal, zero)), zero)
}

/** After a version that repays `paid`, or takes it back where it is negative, and names repayments of so much known `cash`. */
export const afterRepayment = (before: ReceivableBalance, paid: Paid, cash: Amount) => {
  const repaid = add(paid.principal, paid.interest)
  const back = isNegative(repaid) ? negate(repaid) : negate(max(subtract(repaid, cash), zero))
  return {
    cash: add(before.cash, cash),
    takenBack: max(add(before.takenBack, back), zero),
    takenBackInterest: max(subtract(before.takenBackInterest, paid.interest), zero),
  }
}
