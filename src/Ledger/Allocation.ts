/**
 * Decides which part of each statement entry of a movement is its fee, from the entries that have come so far and the resource
 * as it is known. Entries that come on one page are seen together; when an entry on a later page, or a new state of the
 * resource, changes the answer for an earlier one, the difference becomes a reclassification.
 *
 * Amounts are in the major unit of the account's currency. Source: posting table of `docs/design.md`.
 */

import type { Amount } from "../Common/Money.ts"
import * as Money from "../Common/Money.ts"

/** One side of a movement: the amounts that one account should see of it. */
export interface Leg {
  /** `out` is debited when all goes well (withdrawal, payout, sell leg), `in` is credited (deposit, buy leg). */
  readonly direction: "in" | "out"
  /**
   * The stated amount. Out: what is debited when the fee is inside it. In: what is credited before the fee, or after it
   * where `net`.
   */
  readonly amount: Amount
  /** The stated fee in this account's currency; zero when there is none, or when it is charged on the other leg. */
  readonly fee: Amount
  /** Out: an entry equal to `amount` has the fee inside it. */
  readonly feeInside: boolean
  /** In: `amount` is stated after the fee (a conversion's buy amount), not before it (a deposit's amount). */
  readonly net: boolean
}

/** A statement entry of the movement on this account: positive `amount`, credited or debited. */
export interface Movement {
  readonly type: "CREDIT" | "DEBIT"
  readonly amount: Amount
}

interface Progress {
  /** The counter-account's balance so far, positive in the leg's normal direction. */
  counter: Amount
  /** Fees booked so far. */
  fees: Amount
  /** The entry that is assumed to include the whole fee although a separate fee entry may still come. */
  assumed: number | null
}

const is = (left: Amount, right: Amount): boolean => Money.equals(left, right)

/**
 * The fee that several entries show together while none of it is booked. `total` is what they moved together; if it equals an
 * amount that the resource states, it shows where the fee is, as a single entry of that amount would.
 */
const shownByTotal = (leg: Leg, total: Amount, progress: Progress): Amount => {
  if (!Money.isZero(progress.fees) || Money.isZero(leg.fee)) return Money.zero
  const shown =
    leg.direction === "out"
      ? is(total, Money.add(leg.amount, leg.fee)) || (leg.feeInside && is(total, leg.amount))
      : is(total, Money.subtract(leg.amount, leg.fee)) || (leg.net && is(total, leg.amount))
  return shown ? leg.fee : Money.zero
}

const forwardOut = (leg: Leg, entry: Amount, progress: Progress): Amount => {
  const started = !Money.isZero(progress.counter)
  if (!Money.isZero(progress.fees) || Money.isZero(leg.fee)) return Money.zero
  if (started)
    return is(entry, leg.fee) ? leg.fee : shownByTotal(leg, Money.add(progress.counter, entry), progress)
  if (is(entry, Money.add(leg.amount, leg.fee))) return leg.fee
  if (is(entry, leg.amount)) return leg.feeInside ? leg.fee : Money.zero
  if (is(entry, Money.subtract(leg.amount, leg.fee))) return Money.zero
  return is(entry, leg.fee) ? leg.fee : Money.zero
}

const forwardIn = (leg: Leg, entry: Amount, progress: Progress): Amount => {
  const gross = leg.net ? Money.add(leg.amount, leg.fee) : leg.amount
  if (!Money.isZero(progress.counter)) {
    // Everything that was due has come; this entry returns the fee.
    const refund = is(progress.counter, gross) && is(entry, progress.fees)
    return refund
      ? Money.negate(progress.fees)
      : shownByTotal(leg, Money.add(progress.counter, entry), progress)
  }
  // The fee came before the amount, and may come back before it.
  if (!Money.isZero(progress.fees)) return is(entry, progress.fees) ? Money.negate(progress.fees) : Money.zero
  if (leg.net && is(entry, leg.amount)) return leg.fee
  return is(entry, Money.subtract(leg.amount, leg.fee)) ? leg.fee : Money.zero
}

/** An entry against the movement's normal direction: money that goes back, or the fee of an incoming movement. */
const backward = (leg: Leg, entry: Amount, progress: Progress): Amount => {
  if (leg.direction === "in" && Money.isZero(progress.fees) && !Money.isZero(leg.fee) && is(entry, leg.fee))
    return leg.fee
  const feesBack = Money.isPositive(progress.fees) ? Money.negate(progress.fees) : Money.zero
  const cash =
    leg.direction === "in"
      ? Money.subtract(progress.counter, progress.fees)
      : Money.add(progress.counter, progress.fees)
  if (is(entry, cash)) return feesBack
  if (is(entry, progress.counter)) return Money.zero
  // No entry had shown a fee yet, and the returned amount is less by exactly the stated fee: the fee was kept.
  const kept = leg.direction === "out" && Money.isZero(progress.fees) && !Money.isZero(leg.fee)
  if (kept && is(entry, Money.subtract(progress.counter, leg.fee))) return leg.fee
  if (leg.direction === "out" && is(entry, progress.fees)) return feesBack
  // Too much had come, and the excess goes back.
  return shownByTotal(leg, Money.subtract(progress.counter, entry), progress)
}

/** A separate fee entry after an entry that was taken to include the fee. */
const isSeparateFee = (leg: Leg, entry: Amount, progress: Progress): boolean =>
  progress.assumed !== null && !Money.isZero(leg.fee) && is(entry, leg.fee)

/** The fee part of every entry, in order: positive is a fee paid (debit of fees), negative a fee that came back. */
export const allocate = (leg: Leg, entries: ReadonlyArray<Movement>): ReadonlyArray<Amount> => {
  const parts: Array<Amount> = []
  const progress: Progress = { counter: Money.zero, fees: Money.zero, assumed: null }
  const normal = leg.direction === "in" ? "CREDIT" : "DEBIT"
  entries.forEach((entry, at) => {
    const forward = entry.type === normal
    const feeSide = entry.type === "DEBIT"
    if (feeSide && isSeparateFee(leg, entry.amount, progress)) {
      const held = progress.assumed
      if (held !== null) parts[held] = Money.zero
      // Without a fee, the counter-account holds exactly what that entry moved.
      progress.counter =
        leg.direction === "in"
          ? Money.subtract(progress.counter, leg.fee)
          : Money.add(progress.counter, leg.fee)
      progress.assumed = null
      parts.push(leg.fee)
      return
    }
    const part = forward
      ? leg.direction === "out"
        ? forwardOut(leg, entry.amount, progress)
        : forwardIn(leg, entry.amount, progress)
      : backward(leg, entry.amount, progress)
    parts.push(part)
    const signed = forward ? entry.amount : Money.negate(entry.amount)
    if (forward && Money.isPositive(part) && is(Money.add(progress.counter, signed), leg.amount))
      progress.assumed = at
    if (!forward || Money.isNegative(part)) progress.assumed = null
    // The counter-account takes cash and fees together.
    progress.counter = Money.add(
      progress.counter,
      leg.direction === "in" ? Money.add(signed, part) : Money.subtract(signed, part),
    )
    progress.fees = Money.add(progress.fees, part)
  })
  return parts
}
