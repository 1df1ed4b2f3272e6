/**
 * How the entries of one movement divide into what its counter-account takes and what is a fee. Every function is given the
 * cash of the entries in order (in positive) and answers a part per entry: cash + counter + fee = 0 in each.
 *
 * Fees hold only what entries show. So the fee that stands is read off the total after each entry: where the total is one
 * that the posting table knows, it says whether the fee is in it; where it is not (part of a return, half a side, a credit
 * too large), the fee stays as it stood, and the counter-account takes the whole entry.
 *
 * Reading: the parts are those that the last content of the resource gives. What was posted with less knowledge is corrected
 * between clearing and fees, so the balances are those of the full knowledge, and a line that a person moved gives the
 * correction from where it stands.
 */
import type { BookSettings, MoneyFact, ResourceFact } from "../Facts.ts"
import { amountOf, total as sum } from "./Decimal.ts"

export interface Part {
  readonly cash: bigint
  readonly counter: bigint
  readonly fee: bigint
}

/** The fee that stands after an entry, or null where the total is none that the table knows. */
type FeeAfter = (total: bigint, entry: bigint, standing: bigint) => bigint | null

const divide = (cash: ReadonlyArray<bigint>, feeAfter: FeeAfter): ReadonlyArray<Part> => {
  let total = 0n
  let standing = 0n
  return cash.map((entry) => {
    total += entry
    const after = feeAfter(total, entry, standing) ?? standing
    const fee = after - standing
    standing = after
    return { cash: entry, counter: -entry - fee, fee }
  })
}

/** Reading: a fee in another currency than the account's cannot be in its entries. */
export const feeIn = (fee: MoneyFact | null, currency: string): bigint =>
  fee !== null && fee.currency === currency ? amountOf(fee.amount) : 0n

/**
 * `gross` before the fee: netted or taken apart it leaves gross − fee, given back it leaves gross. Reading: an entry that takes
 * just the fee shows it, also where the rest of the amount comes after it.
 */
const coming = (cash: ReadonlyArray<bigint>, gross: bigint, fee: bigint): ReadonlyArray<Part> => {
  const isTaken = sum(cash) === gross - fee
  return divide(cash, (total, entry, standing) => {
    if (isTaken && standing === 0n && entry === -fee) return fee
    if (total === gross - fee || total === -fee) return fee // −fee: all returned, the fee kept
    return total === gross || total === 0n ? 0n : null
  })
}

export const depositParts = (
  cash: ReadonlyArray<bigint>,
  deposit: Extract<ResourceFact, { type: "DEPOSIT" }>,
  currency: string,
): ReadonlyArray<Part> => coming(cash, amountOf(deposit.amount.amount), feeIn(deposit.fee, currency))

export const withdrawalParts = (
  cash: ReadonlyArray<bigint>,
  withdrawal: Extract<ResourceFact, { type: "WITHDRAWAL" }>,
  currency: string,
  settings: BookSettings,
): ReadonlyArray<Part> => {
  const amount = amountOf(withdrawal.amount.amount)
  const fee = feeIn(withdrawal.fee, currency)
  const inside =
    withdrawal.form === "money" ||
    (settings.flatWithdrawalFee === "inside" && withdrawal.status === "COMPLETED")
  let shown = false
  let before = 0n
  // Reading: the amount and then an entry of just the fee show it by themselves: it was not inside the amount.
  const isApart = cash.some((entry) => {
    const was = before
    before += entry
    return fee !== 0n && was === -amount && entry === -fee
  })
  return divide(cash, (total, entry, standing) => {
    const gone = -total
    shown ||= entry === -fee && fee !== amount
    // Reading: a credit of just the fee gives the fee back, also where it was on top and the entries now total the amount.
    if (entry === fee && standing === fee) return 0n
    if (gone === amount + fee) return fee
    // Entries of amount − fee and fee show the fee, whatever the form.
    if (gone === amount) return (inside || shown) && !(isApart && standing === 0n) ? fee : 0n
    // All returned, the fee kept. Reading: where the fee is half of it, a credit means that, and not that the fee came back.
    if (entry > 0n && gone === fee) return fee
    if (gone === 0n || gone === amount - fee) return 0n
    return gone === fee ? fee : null
  })
}

/** The sold amount has its fee inside. */
export const sellParts = (cash: ReadonlyArray<bigint>, amount: bigint, fee: bigint): ReadonlyArray<Part> =>
  divide(cash, (total, entry, standing) => {
    if (entry === fee && standing === fee) return 0n
    if (total === -amount || total === -fee) return fee
    return total === 0n ? 0n : null
  })

/** The bought amount is net of its fee. */
export const buyParts = (cash: ReadonlyArray<bigint>, amount: bigint, fee: bigint): ReadonlyArray<Part> =>
  coming(cash, amount + fee, fee)
