/**
 * What happened between two versions of a receivable, as amounts by the lender's signs. A receivable is a snapshot: what
 * happened follows from the difference, and how much was paid from its share of the cash that its transactions moved.
 *
 * Amounts are in the major unit of its currency, debit positive. Source: "Receivables" in `docs/design.md`. Where it leaves a choice:
 * - A fall of principal is settled, however much new interest came meanwhile: settled is never less than it.
 * - Principal that rises again (ACTIVE after PAID, a repayment that bounced) takes a repayment back, as far as principal was
 *   repaid, with the interest that is owed again, as far as those repayments paid interest that are taken back: the last ones,
 *   and all that came with `PAID`. Only what it rises beyond that is lent anew. Its cash, where that stays, pays for
 *   what is repaid next: a service may show an older version after a newer one.
 * - A first version has nothing before it: settled is the principal that fell since the issue, and no interest, since
 *   no version has announced any. Cash beyond it stays in `loan_clearing`. If it is `PAID` and still shows a repaymentAmount above
 *   initialPrincipal, it announces that much interest.
 * - `original`: a `PAID` version with a repaymentAmount below initialPrincipal announces no other interest than before.
 * - Interest that was settled and not paid for (`PAID`, 1,025 due, 1,000 paid) is taken back from income by the accrual
 *   (Δ(repaymentAmount − currentPrincipal) + interest paid); a finding says so, though nothing stands in clearing.
 */
import { Option } from "effect"
import type { Amount } from "../../Common/Money.ts"
import * as Money from "../../Common/Money.ts"
import type { Instant } from "../../Partner/Instant.ts"
import { announcedBy, newlyAnnounced, unpaidOf } from "./AnnouncedInterest.ts"
import { accruedBetweenReads } from "./InterestBetweenReads.ts"
import { type Amounts, accrual, disbursement, minus, nothing, plus, repayment } from "./ReceivableAmounts.ts"
import {
  afterRepayment,
  freeCash,
  idleCash,
  paysAgain,
  paysInterestAgain,
  type ReceivableBalance,
  start,
} from "./ReceivableStanding.ts"
import {
  cashOf,
  isLive,
  knownCash,
  latest,
  type ReceivableVersion,
  type ReceivableView,
} from "./ReceivableVersion.ts"
import { interestOfLast, withRepayment } from "./Repayments.ts"

/** The parts of a version, in the order of their numbers. */
export const parts = ["disbursement", "accrual", "repayment", "cancellation"] as const
export type Part = (typeof parts)[number]

export interface Booked {
  readonly part: Part
  readonly version: number
  readonly occurredAt: Instant
  readonly estimated: boolean
  /** By the lender's roles. Debit positive. */
  readonly amounts: Amounts
}

/** What a version settles, of the amounts that fell due before it, as far as the cash of its own transactions can explain it. */
export interface Settlement {
  readonly version: number
  /** Of the principal; never negative. */
  readonly principal: Amount
  /** Of the interest, beyond the principal; never negative. `original`: announced and unpaid. */
  readonly interest: Amount
  /** How much more interest may be paid: what may have accrued between the two readings. */
  readonly betweenReads: Amount
}

const { add, max, min, subtract, zero } = Money

/** The principal that was lent and repaid between the books' standing and a live version. Repaid is negative where a repayment was taken back. */
const principalOf = (before: ReceivableBalance, now: ReceivableVersion) => {
  const risen = max(subtract(now.currentPrincipal, before.principal), zero)
  const lent = before.disbursed
    ? subtract(risen, min(risen, before.repaid.principal))
    : max(now.initialPrincipal, now.currentPrincipal)
  return { lent, repaid: subtract(add(before.principal, lent), now.currentPrincipal) }
}

/** The interest that a live version leaves due, as far as it says (`outstanding`). */
const interestAfter = (now: ReceivableVersion): Amount =>
  now.status === "PAID" ? zero : subtract(now.repaymentAmount, now.currentPrincipal)

/**
 * What a live version settles, given the standing before it: repaymentAmount before − after. The part of a repayment that new
 * interest hides is not settled here; `betweenReads` may add it.
 */
export const settlementOf = (
  before: ReceivableBalance,
  now: ReceivableVersion,
  view: ReceivableView,
  scale: number,
): Settlement => {
  const { repaid } = principalOf(before, now)
  const allowed = accruedBetweenReads(before, now, view, scale)
  const isLate = !before.disbursed && now.status === "PAID"
  const fallen =
    view.repaymentAmount === "original"
      ? add(before.interest, newlyAnnounced(before, now))
      : subtract(isLate ? max(announcedBy(before, now), zero) : before.interest, interestAfter(now))
  const interest = max(fallen, zero)
  const principal = max(repaid, zero)
  return {
    version: now.version,
    principal,
    interest,
    betweenReads: max(subtract(add(fallen, allowed), interest), zero),
  }
}

/**
 * For a version that is open again after a PAID one: what the PAID one had closed. A new repayment says nothing about the time
 * before it.
 */
const reopened = (before: ReceivableBalance, now: ReceivableVersion): ReceivableBalance["closed"] =>
  now.status === "PAID" || Money.isPositive(principalOf(before, now).repaid) ? Option.none() : before.closed

/** The part of paid interest that a live version states is owed again. */
const takenBack = (before: ReceivableBalance, now: ReceivableVersion, view: ReceivableView): Amount => {
  const closed = reopened(before, now)
  // The version does not state what is owed: everything that a PAID version has settled is.
  if (view.repaymentAmount === "original")
    return Option.match(closed, { onNone: () => zero, onSome: (standing) => standing.interest })
  const back = max(Money.negate(principalOf(before, now).repaid), zero)
  const ended = Option.match(closed, { onNone: () => zero, onSome: ({ interest }) => interest })
  const risen = max(subtract(interestAfter(now), before.interest), zero)
  return min(risen, max(interestOfLast(before.repayments, back), ended))
}

/** What one version brings, given the standing before it. `scale`: the decimals of its currency. */
export const step = (
  before: ReceivableBalance,
  now: ReceivableVersion,
  view: ReceivableView,
  scale: number,
): ReadonlyArray<Booked> => {
  const { servedAt, version } = now
  if (now.status === "CANCELED") {
    const amounts = minus(before.sums)
    return [{ part: "cancellation", version, occurredAt: servedAt, estimated: false, amounts }]
  }
  if (!isLive(now.status)) return []
  const { lent, repaid } = principalOf(before, now)
  const { betweenReads: allowed, interest: settled } = settlementOf(before, now, view, scale)
  const isPaid = now.status === "PAID"
  const isOriginal = view.repaymentAmount === "original"
  const cash = cashOf(now.repayments)
  // If its cash is not known, the settled amount counts as paid. With `original` only the end shows that interest is settled.
  const isRepaid =
    Money.isPositive(repaid) ||
    now.repayments.length > 0 ||
    isPaid ||
    (!isOriginal && Money.isZero(repaid) && paysInterestAgain(before, settled))
  const least = isRepaid && (!isOriginal || isPaid) ? settled : zero
  const free = isRepaid ? freeCash(before) : zero
  // With `original` no version says what of it was interest.
  const idle = isRepaid && isOriginal ? idleCash(before, repaid) : zero
  const brought = subtract(add(knownCash(now.repayments), free), idle)
  const shown = max(min(subtract(brought, max(repaid, zero)), add(settled, allowed)), zero)
  const isKnown = now.repayments.length === 0 ? paysAgain(before, repaid) : Option.isSome(cash)
  const paid = isKnown ? shown : max(least, shown)
  const paysMore = Money.isPositive(subtract(paid, settled))
  const net = subtract(paid, takenBack(before, now, view))
  const accrued = isOriginal
    ? Option.match(reopened(before, now), {
        // Fully repaid: unpaid interest is no longer due.
        onNone: () => (isPaid || paysMore ? subtract(paid, before.interest) : newlyAnnounced(before, now)),
        onSome: (closed) => {
          const announced = announcedBy(before, now)
          const sum = add(before.repaid.interest, net)
          const more = paysMore ? max(subtract(sum, announced), zero) : closed.paidUnannounced
          return subtract(add(unpaidOf(announced, sum, more), net), before.interest)
        },
      })
    : add(subtract(interestAfter(now), before.interest), net)
  const disbursedAt = Option.match(now.disbursed, {
    onNone: () => servedAt,
    onSome: ({ txTimestamp }) => txTimestamp,
  })
  return [
    { part: "disbursement", version, occurredAt: disbursedAt, estimated: false, amounts: disbursement(lent) },
    { part: "accrual", version, occurredAt: servedAt, estimated: false, amounts: accrual(accrued, view) },
    {
      part: "repayment",
      version,
      occurredAt: Option.getOrElse(latest(now.repayments), () => servedAt),
      estimated: now.repayments.length !== 1 || Option.isNone(cash) || paysMore || Money.isPositive(free),
      amounts: repayment(repaid, net, view),
    },
  ]
}

export const follow = (
  before: ReceivableBalance,
  now: ReceivableVersion,
  booked: ReadonlyArray<Booked>,
): ReceivableBalance => {
  if (now.status === "CANCELED") return start(now.servedAt)
  const amountsOf = (part: Part) => booked.find((one) => one.part === part)?.amounts ?? nothing
  const sums = booked.reduce((sum, { amounts }) => plus(sum, amounts), before.sums)
  const paid = minus(amountsOf("repayment"))
  const announced = isLive(now.status) ? announcedBy(before, now) : before.announced
  const more = isLive(now.status) ? newlyAnnounced(before, now) : zero
  const open = isLive(now.status) ? reopened(before, now) : Option.none()
  const [back, paidUnannounced] = Option.match(open, {
    onNone: () => [zero, before.paidUnannounced] as const,
    onSome: (closed) => [closed.interest, closed.paidUnannounced] as const,
  })
  const repaidInterest = add(before.repaid.interest, paid.interest)
  const paysUnannounced = Money.isPositive(
    subtract(add(paid.interest, back), max(add(before.interest, more), zero)),
  )
  const closed = Option.getOrElse(before.closed, () => ({
    interest: zero,
    paidUnannounced: before.paidUnannounced,
  }))
  // Interest that a PAID version no longer announces counts as paid without announcement, too.
  const unannounced = max(subtract(repaidInterest, announced), zero)
  return {
    disbursed: before.disbursed || isLive(now.status),
    principal: sums.principal,
    interest: sums.interest,
    announced,
    readAt: now.servedAt,
    sums,
    repaid: {
      principal: add(before.repaid.principal, paid.principal),
      interest: repaidInterest,
    },
    repayments: withRepayment(before.repayments, paid),
    ...afterRepayment(before, paid, knownCash(now.repayments)),
    paidUnannounced: paysUnannounced
      ? unannounced
      : now.status === "PAID"
        ? max(paidUnannounced, unannounced)
        : paidUnannounced,
    closed: !isLive(now.status)
      ? before.closed
      : now.status === "PAID"
        ? Option.some({ ...closed, interest: add(closed.interest, paid.interest) })
        : Option.none(),
  }
}
