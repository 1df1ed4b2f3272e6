/** What the books hold of one receivable between two of its versions. */
import { Option } from "effect"
import { type Amount, add, isNegative, max, min, negate, subtract, zero } from "../../Common/Money.ts"
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
  paidUnannounced: zero,
  closed: Option.none(),
})

/** The cash of repayments that were taken back, as far as it is there and pays for nothing else: it pays for what is repaid next. */
export const freeCash = ({ cash, repaid, takenBack }: ReceivableBalance): Amount =>
  max(min(subtract(cash, add(repaid.principal, repaid.interest)), takenBack), zero)

/** After a version that repays `repaid`, or takes it back where it is negative, and names repayments of so much known `cash`. */
export const afterRepayment = (before: ReceivableBalance, repaid: Amount, cash: Amount) => {
  const back = isNegative(repaid) ? negate(repaid) : negate(max(subtract(repaid, cash), zero))
  return { cash: add(before.cash, cash), takenBack: max(add(before.takenBack, back), zero) }
}
