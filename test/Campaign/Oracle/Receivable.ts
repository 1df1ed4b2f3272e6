/**
 * One receivable, from the differences between its versions. Everything is said as the lender says it; the borrower's books
 * are the mirror image under other roles.
 *
 * Readings, where the text of the design leaves a choice:
 * - A first version beyond PENDING is taken as two: the receivable as it was disbursed (initialPrincipal, and as interest what
 *   this version still shows as due beyond principal), then this version. So the interest that was paid before anybody looked
 *   is unknown, and cash beyond the principal stays in `loan_clearing`. If the first is PAID and still shows a repaymentAmount
 *   above initialPrincipal, the difference was the interest. A first version that is CANCELED posts nothing.
 * - PAID: principal, amount due and unpaid interest are nil whatever the version shows. `original`: an amount below
 *   initialPrincipal in a PAID version tells no new interest.
 * - Settled is never less than the principal that fell: new interest that came meanwhile takes nothing from it. Principal that
 *   rose settles nothing, and no interest either.
 * - A repayment is: a transaction that no earlier version of it named, a principal that fell, PAID, or interest that fell alone and
 *   no further than is owed again, while cash of what was taken back is there. What fell without one (only repaymentAmount) is an
 *   accrual below zero.
 * - Of transactions of which some are not linked, the unlinked bring what the linked leave of the settled amount. `original`,
 *   unlinked and not PAID: the principal that fell, for nothing says how much interest was in it.
 * - `loan_clearing` receives ΔP + interest paid, as "interest paid = min(x, settled) − ΔP, never negative" has it. So a
 *   shortfall within the interest is an accrual below zero (less interest was earned than told), and one beyond it stays in
 *   `loan_clearing`.
 * - Principal that rises takes a repayment back, as far as principal was repaid, and only beyond that is it lent anew. With it
 *   goes the interest that is owed again, as far as interest was paid with the last repayments, those of that principal and those
 *   of PAID; `original` does not say what is owed: all interest that was paid since it was PAID. ACTIVE after PAID without new principal is the same. What is taken back is not due any more,
 *   and neither is interest that was due, was not paid, and is told again. A fall in the same version tells nothing of it.
 *   The cash of what was taken back is part of x of the repayments after it, as far as it is there and nothing else took it; all of x
 *   where a version names none and it suffices for the principal. `original`: of it, interest is paid by what had paid interest alone.
 * - CANCELED takes back all that was booked, interest that was paid too: the cash of a loan that did not complete is an open
 *   item. ACTIVE after that is a new disbursement of initialPrincipal. PENDING after ACTIVE changes nothing.
 * - interestBetweenReads: % × principal before (× initialPrincipal before it is lent) × the days begun between this version's
 *   read and that of the version before it (the issue, where there is none), cut at the currency's decimals. What new interest
 *   was told meanwhile is part of it. `original`: what was paid beyond what was told is part of what is told later.
 * - `original`: interest that PAID left unpaid is forgone; a version after it tells of new interest only beyond that.
 */

import type { BookSettings, ReceivableFact, ReceivableVersionFact } from "../Facts.ts"
import { amountOf, cut, larger, smaller, total } from "./Decimal.ts"
import { cancelled, type Firm, firmAfter, noFirm } from "./Firm.ts"

/**
 * The cash of the repayments that a version newly names: by its index, the shares of the linked ones, and null for an unlinked one.
 */
export type Shares = ReadonlyMap<number, ReadonlyArray<bigint | null>>

export interface VersionBooks {
  /** The amount settled between the previous version and this one; with `original`, of the principal only. */
  readonly settled: bigint
  /** With `original`, all interest that was stated until now. Null where versions state what they settle. */
  readonly told: bigint | null
  /** How much more interest interestBetweenReads allows. */
  readonly allowance: bigint
}

export interface ReceivableBooks {
  readonly principal: bigint
  readonly interest: bigint
  readonly income: bigint
  readonly deferred: bigint
  readonly clearing: bigint
  /** The amount lent, by its versions. */
  readonly lent: bigint
  /** The amount repaid, by its versions, and the part of it without known cash. */
  readonly repaid: bigint
  /** The part of it that is due and unpaid interest: no entry takes cash that comes for it later. */
  readonly short: bigint
  readonly waiting: bigint
  /** The missing cash of those repayments of which some cash is known. */
  readonly unseen: bigint
  /** What the versions settle (`original`: of the principal), without what a later one owes again or cancels. */
  readonly firm: Firm
  readonly versions: ReadonlyArray<VersionBooks>
}

interface Ended {
  readonly interest: bigint
  readonly done: bigint
  readonly paidOfTold: bigint
}

const decimalsOf = (currency: string): number =>
  currency === "JPY" ? 0 : currency === "USDT" || currency === "USDC" ? 8 : 2

const day = 86_400_000

/** The interest that the days between two reads allow. */
const allowanceOf = (
  rate: string,
  principal: bigint,
  from: string,
  to: ReceivableVersionFact,
  currency: string,
): bigint => {
  const days = BigInt(Math.max(0, Math.ceil((Date.parse(to.servedAt) - Date.parse(from)) / day)))
  return cut((principal * amountOf(rate) * days) / (100n * amountOf("1")), decimalsOf(currency))
}

type Payments = Array<[principal: bigint, interest: bigint]>

/** The interest that came with the last payments of so much principal. */
const interestOf = (payments: Payments, principal: bigint): bigint => {
  const before = payments.map((_, index) => total(payments.slice(0, index).map(([paid]) => paid)))
  return total(
    payments.flatMap(([, interest], index) => ((before[index] ?? 0n) < principal ? [interest] : [])),
  )
}

const takeOff = (payments: Payments, principal: bigint, interest: bigint): void => {
  const left = [principal, interest] as const
  for (const column of [0, 1] as const) {
    let rest = left[column]
    for (const payment of payments) {
      const taken = smaller(rest, payment[column])
      payment[column] -= taken
      rest -= taken
    }
  }
}

export const receivableBooks = (
  fact: ReceivableFact,
  settings: BookSettings,
  shares: Shares,
): ReceivableBooks => {
  const initial = amountOf(fact.initialPrincipal)
  const original = settings.repaymentAmount === "original"
  let live = false
  let principal = 0n
  let told = 0n // `original`: the interest of the whole term, as last told
  let done = 0n // `original`: of the interest of the whole term what was paid, or is forgone
  let paidOfTold = 0n
  let unpaid = 0n
  let income = 0n
  let deferred = 0n
  let clearing = 0n
  let [lent, repaidDue, waiting, unseen] = [0n, 0n, 0n, 0n]
  let repaidPrincipal = 0n
  // What every repayment paid, the last one first
  let payments: Payments = []
  // While it is PAID: the interest that was paid with it, and the interest of the whole term before
  let ended: Ended | null = null
  let short = 0n // Interest that is due and unpaid
  // The cash of all repayments, what it paid in the end, and what was owed again and not repaid since, with the interest in it
  let [come, spent, undone, undoneInterest] = [0n, 0n, 0n, 0n]
  let standing: Firm = noFirm
  const versions: Array<VersionBooks> = []

  const accrue = (interest: bigint) => {
    unpaid += interest
    if (settings.interest === "as_stated") income -= interest
    else deferred -= interest
  }
  const disburse = (interest: bigint) => {
    live = true
    principal = initial
    clearing -= initial
    lent += initial
    told = interest
    ;[done, paidOfTold] = [0n, 0n]
    ;[repaidPrincipal, short, ended, payments] = [0n, 0n, null, []]
    accrue(interest)
  }

  for (const [index, version] of fact.versions.entries()) {
    const due = amountOf(version.repaymentAmount)
    const paid = version.status === "PAID"
    const principalAfter = paid ? 0n : amountOf(version.currentPrincipal)
    const none = { settled: 0n, told: null, allowance: 0n }
    const readBefore = fact.versions[index - 1]?.servedAt ?? fact.issueDate
    const named = shares.get(index) ?? []
    const linked = total(named.map((share) => share ?? 0n))
    if (version.status === "PENDING" || version.status === "CANCELED") {
      versions.push(none)
      come += linked
      if (version.status === "PENDING") continue
      ;[come, spent, undone, undoneInterest] = [0n, 0n, 0n, 0n]
      ;[principal, unpaid, income, deferred, clearing] = [0n, 0n, 0n, 0n, 0n]
      ;[lent, repaidDue, short, waiting, unseen] = [0n, 0n, 0n, 0n, 0n]
      standing = cancelled
      live = false
      continue
    }
    // For a loan that is first seen active, its interest has accrued since the issue.
    let toldNow = 0n
    // PAID after CANCELED, like ACTIVE after CANCELED, is a receivable that was disbursed after all.
    if (!live) {
      const shown = original || paid ? due - initial : due - principalAfter
      disburse(paid || original ? larger(0n, shown) : shown)
      if (!paid && !original) toldNow = shown
    }

    const fallen = principal - principalAfter
    const toldAfter = paid && due < initial ? told : due - initial
    const unpaidTold = (): bigint => larger(toldAfter - done, smaller(0n, toldAfter - paidOfTold))
    const unpaidBefore = original ? larger(0n, unpaidTold()) : 0n
    const owedAfter = paid ? 0n : due
    const interestFallen = original ? unpaidBefore : principal + unpaid - owedAfter - fallen - toldNow
    const settled = larger(0n, fallen) + larger(0n, interestFallen)
    const possible = allowanceOf(settings.interestBetweenReads, principal, readBefore, version, fact.currency)
    const allowance = larger(0n, possible + smaller(0n, original ? unpaidTold() : interestFallen))
    versions.push(
      original
        ? { settled: larger(0n, fallen), told: toldAfter, allowance }
        : { settled, told: null, allowance },
    )

    const stands = [principal, unpaid, unpaidBefore].some((amount) => amount !== 0n)
    const there = larger(0n, smaller(come - spent, undone))
    const alone = !original && fallen === 0n && settled > 0n && there > 0n && settled <= undoneInterest
    const repaid = named.length > 0 || fallen > 0n || (paid && stands) || alone
    const guessed = named.length === 0 || named.includes(null)
    // Cash that is free again. Where it suffices and no other is named, it alone pays; with `original`, what had paid principal pays no interest.
    const free = repaid ? there : 0n
    const shownAgain = named.length === 0 && free > 0n && free >= fallen
    const idle = original ? larger(0n, free - smaller(free, undoneInterest) - larger(0n, fallen)) : 0n
    const least = guessed && !shownAgain ? (original && !paid ? fallen : settled) : 0n
    const brought = larger(linked + free - idle, least)
    const interestPaid = repaid
      ? larger(0n, smaller(brought - larger(0n, fallen), settled - larger(0n, fallen) + allowance))
      : 0n
    const back = smaller(larger(0n, -fallen), repaidPrincipal)
    lent += larger(0n, -fallen) - back
    const again = !paid && fallen <= 0n && (back > 0n || ended !== null)
    const owedAgain = original
      ? (ended?.interest ?? 0n)
      : smaller(
          larger(ended?.interest ?? 0n, interestOf(payments, back)),
          larger(0n, due - principalAfter - unpaid),
        )
    const interestNet = interestPaid - (again ? owedAgain : 0n)

    if (again && ended !== null) [done, paidOfTold] = [ended.done, ended.paidOfTold]
    const since: Ended = ended ?? { interest: 0n, done, paidOfTold }
    ended = paid ? { ...since, interest: since.interest + interestPaid } : null
    done += interestPaid
    paidOfTold += interestPaid
    if (interestPaid > unpaidBefore) paidOfTold = smaller(done, toldAfter)
    if (paid) [done, paidOfTold] = [larger(done, toldAfter), smaller(paidOfTold, toldAfter)]
    const unpaidAfter = paid ? 0n : original ? unpaidTold() : due - principalAfter
    const accrued = unpaidAfter - unpaid + interestNet
    accrue(accrued)
    const taken = larger(0n, fallen) - back + interestNet
    ;[come, spent] = [come + linked, spent + taken]
    undone = larger(0n, undone - (taken < 0n ? taken : larger(0n, taken - linked)))
    undoneInterest = larger(0n, undoneInterest - interestNet)
    const owed = original ? back - larger(0n, fallen) : -taken
    const firm = original ? larger(0n, fallen) : settled
    const earlier = fact.versions.slice(0, index).flatMap(({ repayments }) => repayments)
    const names = version.repayments.some(({ txId }) => !earlier.some((one) => one.txId === txId))
    standing = firmAfter(standing, index, { names, owed, settled: firm })
    if (taken < 0n) {
      const retold = smaller(short, larger(0n, accrued))
      short -= retold
      repaidDue += taken - retold
      waiting = larger(0n, waiting + taken - retold)
      unseen = larger(0n, unseen + taken - retold)
    } else {
      // A settled amount is due; with `original` the interest is due only at the end.
      const nowDue = guessed || (original && !paid) ? taken : larger(taken, settled)
      repaidDue += nowDue
      short += nowDue - taken
      if (guessed) waiting += taken
      if (guessed) unseen += larger(0n, taken - linked)
    }
    unpaid -= interestNet
    clearing += fallen + interestNet
    if (settings.interest === "when_paid") {
      deferred += interestNet
      income -= interestNet
    }
    principal = principalAfter
    told = toldAfter
    repaidPrincipal += larger(0n, fallen) - back
    payments.unshift([larger(0n, fallen), larger(0n, interestNet)])
    takeOff(payments, back, larger(0n, -interestNet))
  }
  return {
    principal,
    interest: unpaid,
    income,
    deferred,
    clearing,
    lent,
    repaid: repaidDue,
    short,
    waiting,
    unseen,
    firm: standing,
    versions,
  }
}
