/**
 * What one receivable makes due in loan clearing, what of that was paid, and what is still waited for. Plain functions of data;
 * amounts are in the major unit of its currency, by the lender's signs.
 */
import { Option } from "effect"
import type { Amount } from "../../Common/Money.ts"
import * as Money from "../../Common/Money.ts"
import { byInstant } from "../../Common/Time.ts"
import type { Instant } from "../../Partner/Instant.ts"
import type { Purpose } from "./Claims.ts"
import { start } from "./ReceivableStanding.ts"
import { type Booked, follow, settlementOf, step } from "./ReceivableSteps.ts"
import {
  cashOf,
  isLive,
  knownCash,
  type ReceivableVersion,
  type ReceivableView,
  type Transaction,
} from "./ReceivableVersion.ts"
import type { Share } from "./Sharing.ts"
import { legOf, limited, type WaitingLeg, withoutRepaid } from "./WaitingCash.ts"

/** One direction of a receivable (lent or repaid) in loan clearing. */
export interface Due {
  /**
   * The amount that its versions state, and the amount that its cash paid: an excess was paid beyond what is due, a shortfall
   * is due beyond what was paid.
   */
  readonly due: Amount
  readonly paid: Amount
  /** The part of `due` whose cash is not known yet. */
  readonly waiting: Amount
}

export interface Dues {
  readonly lent: Due
  readonly repaid: Due
  /** The amount that was repaid and is owed again. */
  readonly takenBack: Amount
  /** The legs that are waited for, in the order of the versions. */
  readonly legs: ReadonlyArray<WaitingLeg>
  /** What its entries take off loan clearing; debit positive. */
  readonly taken: Amount
  /** The books hold principal or interest of it. */
  readonly owed: boolean
  /** When the first event happened that was not paid exactly; none if all were. */
  readonly since: Option.Option<Instant>
}

const { add, isZero, max, min, negate, subtract, zero } = Money

const paidBy = (shares: ReadonlyArray<Share>, purpose: Purpose, currency: string): Amount => {
  const sum = Money.total(
    shares
      .filter((one) => one.purpose === purpose && one.currency === currency)
      .map(({ amount, leftOver }) => add(amount, leftOver)),
  )
  return purpose === "repayment" ? sum : negate(sum)
}

/** What the versions so far make due. */
class Running {
  lent = zero
  repaid = zero
  waiting = zero
  takenBack = zero
  lentAt: Array<Instant> = []
  repaidAt: Array<Instant> = []
  legs: ReadonlyArray<WaitingLeg> = []
  /** Interest that was due and not paid. */
  short = zero

  cancel(at: Instant): void {
    this.lent = this.repaid = this.waiting = this.takenBack = this.short = zero
    this.legs = []
    this.lentAt = [at]
    this.repaidAt = [at]
  }

  lend(part: Booked, payouts: ReadonlyArray<Transaction>): void {
    if (isZero(part.amounts.cash)) return
    this.lent = subtract(this.lent, part.amounts.cash)
    this.lentAt.push(part.occurredAt)
    this.legs = [...this.legs, ...legOf("disbursement", part, payouts, zero)]
  }

  /** Owed again, and with it, as far as it is announced again, the interest that was due and not paid. */
  takeBack({ amounts, occurredAt }: Booked, announced: Amount): void {
    const unpaid = min(this.short, max(announced, zero))
    const back = subtract(unpaid, amounts.cash)
    this.short = subtract(this.short, unpaid)
    this.takenBack = add(this.takenBack, back)
    this.repaid = subtract(this.repaid, back)
    this.waiting = max(subtract(this.waiting, back), zero)
    this.legs = withoutRepaid(this.legs, back)
    this.repaidAt.push(occurredAt)
  }

  /** `settled`: at least so much is due. `leaves`: nobody could take all of its cash. */
  repay(part: Booked, { repayments }: ReceivableVersion, settled: Amount, leaves: boolean): void {
    const cash = cashOf(repayments)
    const { amounts, occurredAt } = part
    const firm = Option.isSome(cash) ? max(amounts.cash, settled) : amounts.cash
    this.repaid = add(this.repaid, firm)
    this.short = add(this.short, subtract(firm, amounts.cash))
    if (Option.isNone(cash)) {
      this.waiting = add(this.waiting, amounts.cash)
      this.legs = [...this.legs, ...legOf("repayment", part, repayments, knownCash(repayments))]
    }
    const isExact = isZero(firm) || Option.exists(cash, (amount) => Money.equals(amount, firm))
    if (!isExact || leaves) this.repaidAt.push(occurredAt)
  }
}

/**
 * What is due, and what was paid for it. Interest that was settled and not paid is due. If cash comes for it after all, no
 * entry takes that cash, and clearing holds what was paid beyond the entries.
 */
const repaidOf = ({ repaid: due, short, waiting }: Running, paid: Amount): Due => {
  const booked = subtract(due, short)
  return { due: Money.isPositive(subtract(paid, booked)) ? booked : due, paid, waiting }
}

/**
 * Compares what the versions take off loan clearing with the cash of their transactions. `scale`: the decimals of the currency.
 */
export const duesOf = (
  versions: ReadonlyArray<ReceivableVersion>,
  { currency, issuedAt }: { readonly currency: string; readonly issuedAt: Instant },
  shares: ReadonlyArray<Share>,
  view: ReceivableView,
  scale: number,
): Dues => {
  let standing = start(issuedAt)
  const running = new Running()
  const payouts = versions.flatMap(({ disbursed }) => Option.toArray(disbursed))
  for (const version of versions) {
    const booked = step(standing, version, view, scale)
    if (version.status === "CANCELED") running.cancel(version.servedAt)
    else if (isLive(version.status)) {
      const { interest, principal } = settlementOf(standing, version, view, scale)
      // A settled amount is due; with `original` only at the end, since interest is only announced until then.
      const isDue = view.repaymentAmount === "outstanding" || version.status === "PAID"
      const leaves = shares.some((one) => one.version === version.version && !isZero(one.leftOver))
      for (const part of booked) {
        if (part.part === "disbursement") running.lend(part, payouts)
        if (part.part !== "repayment") continue
        if (Money.isNegative(part.amounts.cash)) {
          const announced = booked.find((one) => one.part === "accrual")?.amounts.interest ?? zero
          running.takeBack(part, announced)
        } else running.repay(part, version, isDue ? add(principal, interest) : zero, leaves)
      }
    }
    standing = follow(standing, version, booked)
  }
  const { lent, lentAt, repaidAt, takenBack } = running
  const known = shares.some(({ fits, purpose }) => fits && purpose === "disbursement")
  const dues = {
    lent: { due: lent, paid: paidBy(shares, "disbursement", currency), waiting: known ? zero : lent },
    repaid: repaidOf(running, paidBy(shares, "repayment", currency)),
  }
  const legsOf = (purpose: Purpose) => running.legs.filter((leg) => leg.purpose === purpose)
  const unlike = ({ due, paid }: Due): boolean => !Money.equals(due, paid)
  const times = [...(unlike(dues.lent) ? lentAt : []), ...(unlike(dues.repaid) ? repaidAt : [])]
  const latest = versions.at(-1)?.servedAt ?? issuedAt
  const open =
    times.length > 0 || unlike(dues.lent) || unlike(dues.repaid) || shares.some(({ fits }) => !fits)
  return {
    ...dues,
    legs: [
      ...(known ? [] : legsOf("disbursement")),
      ...limited(legsOf("repayment"), subtract(dues.repaid.due, dues.repaid.paid)),
    ],
    takenBack,
    taken: standing.sums.cash,
    owed: !isZero(standing.principal) || !isZero(standing.interest),
    since: open ? Option.some(times.sort(byInstant)[0] ?? latest) : Option.none(),
  }
}
