/**
 * What happened between two versions of a receivable, as amounts by the lender's signs. A receivable is a snapshot: what
 * happened follows from the difference, and how much was paid from its share of the cash that its transactions moved.
 *
 * Amounts are in the major unit of the receivable's currency, debit positive. Source: "Receivables" in `docs/design.md`. Where it
 * leaves a choice:
 * - A fall of principal is settled, however much new interest came meanwhile: settled is never less than it.
 * - Principal that rises again (ACTIVE after PAID, a repayment that bounced) takes a repayment back, as far as principal was
 *   repaid, with the interest that is owed again, as far as interest was paid; only what it rises beyond that is lent anew.
 * - A first version has nothing before it: settled is the principal that fell since the issue, and no interest, since
 *   nobody has told of any. Cash beyond it stays in `loan_clearing`. If it is `PAID` and still shows a repaymentAmount above
 *   initialPrincipal, it tells of that much interest.
 * - `original`: a `PAID` version with a repaymentAmount below initialPrincipal tells of no other interest than before.
 * - Interest that was settled and not paid for (`PAID`, 1,025 due, 1,000 paid) is taken back from income by the accrual
 *   (Δ(repaymentAmount − currentPrincipal) + interest paid); it is said by a finding though nothing stands in clearing.
 */
import { Option } from "effect"
import type { Amount } from "../../Common/Money.ts"
import * as Money from "../../Common/Money.ts"
import type { Instant } from "../../Partner.ts"
import {
  type Amounts,
  accrual,
  disbursement,
  type InterestPolicy,
  minus,
  nothing,
  plus,
  repayment,
} from "./ReceivableAmounts.ts"

export interface ReceivableVersion {
  readonly version: number
  /** Verbatim. */
  readonly status: string
  readonly initialPrincipal: Amount
  readonly currentPrincipal: Amount
  readonly repaymentAmount: Amount
  /** The service's clock when it answered with this content. */
  readonly servedAt: Instant
  /** Transactions that no version before this one names. */
  readonly disbursed: Option.Option<Transaction>
  readonly repayments: ReadonlyArray<Transaction>
}

export interface Transaction {
  readonly txId: string
  readonly txTimestamp: Instant
  /** What of its cash is this receivable's, positive in its expected direction; none where the books do not have it. */
  readonly cash: Option.Option<Amount>
}

export interface ReceivableView extends InterestPolicy {
  readonly view: "lender" | "borrower"
  /** Whether `repaymentAmount` falls with repayments or stays as it was at the start. */
  readonly repaymentAmount: "outstanding" | "original"
  /** New interest that may have come between two readings and be paid with the second: % of the principal a day, a decimal. */
  readonly interestBetweenReads: string
}

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

/** What a version settles: of what fell due until it, as far as the cash of its own transactions may explain it. */
export interface Settlement {
  readonly version: number
  /** Of the principal; never negative. */
  readonly principal: Amount
  /** Of the interest, beyond the principal; never negative. `original`: told and unpaid. */
  readonly interest: Amount
  /** How much interest more may be paid, that came between the readings. */
  readonly between: Amount
}

const { add, subtract, zero } = Money
const max = (a: Amount, b: Amount): Amount => (Money.isPositive(subtract(a, b)) ? a : b)
const min = (a: Amount, b: Amount): Amount => (Money.isPositive(subtract(a, b)) ? b : a)

/** What the books hold of the receivable, by the lender's signs. */
export interface Standing {
  readonly disbursed: boolean
  readonly principal: Amount
  readonly interest: Amount
  /** Interest that the service has told of so far (`original` only). */
  readonly told: Amount
  /** Since when interest may have come that no version tells of. */
  readonly readAt: Instant
  /** Everything booked, to be taken back if it is cancelled. */
  readonly sums: Amounts
  /** What its repayments settled so far, without what was taken back. */
  readonly repaid: Paid
  /** Of the interest that was paid, what no version had told of (`original`): later versions may. */
  readonly beyond: Amount
  /** Since it is PAID: the interest that was paid with it, and `beyond` as it was before; none where it is not PAID. */
  readonly closed: Option.Option<{ readonly interest: Amount; readonly beyond: Amount }>
}

export interface Paid {
  readonly principal: Amount
  readonly interest: Amount
}

/** Before the first version: the receivable was issued. */
export const start = (issuedAt: Instant): Standing => ({
  disbursed: false,
  principal: zero,
  interest: zero,
  told: zero,
  readAt: issuedAt,
  sums: nothing,
  repaid: { principal: zero, interest: zero },
  beyond: zero,
  closed: Option.none(),
})

/** The cash of all transactions together; none where there are none, or one of them is not in the books. */
export const cashOf = (transactions: ReadonlyArray<Transaction>): Option.Option<Amount> =>
  transactions.length === 0
    ? Option.none()
    : transactions.reduce<Option.Option<Amount>>(
        (sum, { cash }) => Option.zipWith(sum, cash, add),
        Option.some(zero),
      )

/** The cash of those that are in the books. */
export const knownCash = (transactions: ReadonlyArray<Transaction>): Amount =>
  Money.total(transactions.map(({ cash }) => Option.getOrElse(cash, () => zero)))

const latest = (transactions: ReadonlyArray<Transaction>): Option.Option<Instant> =>
  Option.fromNullable(
    transactions
      .map(({ txTimestamp }) => txTimestamp)
      .sort()
      .at(-1),
  )

export const isLive = (status: string): boolean => status === "ACTIVE" || status === "PAID"

const dayMillis = 86_400_000

/** Days that have begun between two points in time. */
const daysBetween = (from: Instant, to: Instant): number =>
  Math.max(0, Math.ceil((Date.parse(to) - Date.parse(from)) / dayMillis))

/** `interestBetweenReads` of the principal for the days since the last reading, cut off at the currency's minor unit. */
const between = (before: Standing, now: ReceivableVersion, view: ReceivableView, scale: number): Amount => {
  const rate = Money.fromTrusted(view.interestBetweenReads)
  if (Money.isZero(rate)) return zero
  const principal = before.disbursed ? before.principal : now.initialPrincipal
  const days = Money.fromTrusted(String(daysBetween(before.readAt, now.servedAt)))
  return Money.percent(Money.multiply(principal, days), rate, scale)
}

/** The principal that was lent and repaid between what stands and a live version; repaid is negative where it was taken back. */
const principalOf = (before: Standing, now: ReceivableVersion) => {
  const risen = max(subtract(now.currentPrincipal, before.principal), zero)
  const lent = before.disbursed
    ? subtract(risen, min(risen, before.repaid.principal))
    : max(now.initialPrincipal, now.currentPrincipal)
  return { lent, repaid: subtract(add(before.principal, lent), now.currentPrincipal) }
}

/** The interest that a live version leaves due, as far as it says (`outstanding`). */
const interestAfter = (now: ReceivableVersion): Amount =>
  now.status === "PAID" ? zero : subtract(now.repaymentAmount, now.currentPrincipal)

type ToldAmounts = Pick<ReceivableVersion, "status" | "initialPrincipal" | "repaymentAmount">

/** The interest of the whole term. */
export const toldBy = (before: Pick<Standing, "told">, now: ToldAmounts): Amount => {
  const told = subtract(now.repaymentAmount, now.initialPrincipal)
  return now.status === "PAID" && Money.isNegative(told) ? before.told : told
}

/** Of what is told, what is not paid (`original`); less than nothing where less is told than was, and was paid. */
const unpaidOf = (told: Amount, paid: Amount, beyond: Amount): Amount => {
  const left = subtract(told, paid)
  return max(left, min(add(left, beyond), zero))
}

/** The interest that a version tells of and none before it did, nor was it paid already (`original`). */
const newlyTold = (before: Standing, now: ToldAmounts): Amount => {
  const { beyond, repaid, told } = before
  const unpaid = (of: Amount): Amount => unpaidOf(of, repaid.interest, beyond)
  return subtract(unpaid(toldBy(before, now)), unpaid(told))
}

/**
 * What a live version settles, given what stands before it: repaymentAmount before − after. What new interest hides of a
 * repayment is no longer settled, so that `between` may give it back.
 */
export const settlementOf = (
  before: Standing,
  now: ReceivableVersion,
  view: ReceivableView,
  scale: number,
): Settlement => {
  const { repaid } = principalOf(before, now)
  const allowed = between(before, now, view, scale)
  const isLate = !before.disbursed && now.status === "PAID"
  const fallen =
    view.repaymentAmount === "original"
      ? add(before.interest, newlyTold(before, now))
      : subtract(isLate ? max(toldBy(before, now), zero) : before.interest, interestAfter(now))
  const interest = max(fallen, zero)
  const principal = max(repaid, zero)
  return {
    version: now.version,
    principal,
    interest,
    between: max(subtract(add(fallen, allowed), interest), zero),
  }
}

/** What a PAID version had closed, of a live one that is open again. What is repaid anew tells nothing of what was before. */
const reopened = (before: Standing, now: ReceivableVersion): Standing["closed"] =>
  now.status === "PAID" || Money.isPositive(principalOf(before, now).repaid) ? Option.none() : before.closed

/** Of interest that was paid, what a live version says is owed again. */
const takenBack = (before: Standing, now: ReceivableVersion, view: ReceivableView): Amount => {
  const closed = reopened(before, now)
  // It does not say what is owed: all of it is, that a PAID version has settled.
  if (view.repaymentAmount === "original")
    return Option.match(closed, { onNone: () => zero, onSome: (of) => of.interest })
  const isOwed = Option.isSome(closed) || Money.isNegative(principalOf(before, now).repaid)
  const risen = max(subtract(interestAfter(now), before.interest), zero)
  return isOwed ? min(risen, before.repaid.interest) : zero
}

/** What one version brings, given what stands before it; `scale`: the decimals of its currency. */
export const step = (
  before: Standing,
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
  const { between: allowed, interest: settled } = settlementOf(before, now, view, scale)
  const isPaid = now.status === "PAID"
  const isOriginal = view.repaymentAmount === "original"
  const cash = cashOf(now.repayments)
  // Where cash is not known: what is settled was paid. `original` says only at the end that interest is settled.
  const isRepaid = Money.isPositive(repaid) || now.repayments.length > 0 || isPaid
  const least = isRepaid && (!isOriginal || isPaid) ? settled : zero
  const shown = max(min(subtract(knownCash(now.repayments), max(repaid, zero)), add(settled, allowed)), zero)
  const paid = Option.isSome(cash) ? shown : max(least, shown)
  const beyond = Money.isPositive(subtract(paid, settled))
  const net = subtract(paid, takenBack(before, now, view))
  const accrued = isOriginal
    ? Option.match(reopened(before, now), {
        // Fully repaid: what was not paid of the interest is not due any more.
        onNone: () => (isPaid || beyond ? subtract(paid, before.interest) : newlyTold(before, now)),
        onSome: (closed) => {
          const told = toldBy(before, now)
          const sum = add(before.repaid.interest, net)
          const more = beyond ? max(subtract(sum, told), zero) : closed.beyond
          return subtract(add(unpaidOf(told, sum, more), net), before.interest)
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
      estimated: now.repayments.length !== 1 || Option.isNone(cash) || beyond,
      amounts: repayment(repaid, net, view),
    },
  ]
}

export const follow = (before: Standing, now: ReceivableVersion, booked: ReadonlyArray<Booked>): Standing => {
  if (now.status === "CANCELED") return start(now.servedAt)
  const of = (part: Part) => booked.find((one) => one.part === part)?.amounts ?? nothing
  const sums = booked.reduce((sum, { amounts }) => plus(sum, amounts), before.sums)
  const paid = minus(of("repayment"))
  const told = isLive(now.status) ? toldBy(before, now) : before.told
  const more = isLive(now.status) ? newlyTold(before, now) : zero
  const open = isLive(now.status) ? reopened(before, now) : Option.none()
  const [back, beyond] = Option.match(open, {
    onNone: () => [zero, before.beyond] as const,
    onSome: (closed) => [closed.interest, closed.beyond] as const,
  })
  const repaidInterest = add(before.repaid.interest, paid.interest)
  const isBeyond = Money.isPositive(subtract(add(paid.interest, back), max(add(before.interest, more), zero)))
  const closed = Option.getOrElse(before.closed, () => ({ interest: zero, beyond: before.beyond }))
  // What a PAID version does not tell of any more was paid beyond what is told, too.
  const untold = max(subtract(repaidInterest, told), zero)
  return {
    disbursed: before.disbursed || isLive(now.status),
    principal: sums.principal,
    interest: sums.interest,
    told,
    readAt: now.servedAt,
    sums,
    repaid: {
      principal: add(before.repaid.principal, paid.principal),
      interest: repaidInterest,
    },
    beyond: isBeyond ? untold : now.status === "PAID" ? max(beyond, untold) : beyond,
    closed: !isLive(now.status)
      ? before.closed
      : now.status === "PAID"
        ? Option.some({ ...closed, interest: add(closed.interest, paid.interest) })
        : Option.none(),
  }
}
