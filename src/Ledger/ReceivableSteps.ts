/**
 * What happened between two versions of a receivable, as amounts by the lender's signs. A receivable is a snapshot: what
 * happened follows from the difference, and how much was paid from its share of the cash that its transactions moved.
 *
 * Amounts are in the major unit of the receivable's currency, debit positive. Source: "Receivables" in `design.md`. Where it
 * leaves a choice:
 * - A fall of principal is settled, however much new interest came meanwhile: settled is never less than it.
 * - A first version has nothing before it: settled is the principal that fell since the issue, and no interest, since
 *   nobody has told of any. Cash beyond it stays in `loan_clearing`. If it is `PAID` and still shows a repaymentAmount above
 *   initialPrincipal, it tells of that much interest.
 * - `original`: a `PAID` version with a repaymentAmount below initialPrincipal tells of no other interest than before.
 * - Interest that was settled and not paid for (`PAID`, 1,025 due, 1,000 paid) is taken back from income by the accrual
 *   (Δ(repaymentAmount − currentPrincipal) + interest paid); it is said by a finding though nothing stands in clearing.
 */
import { Option } from "effect"
import type { Amount } from "../Money.ts"
import * as Money from "../Money.ts"
import type { Instant } from "../Partner.ts"

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

export interface ReceivableView {
  readonly view: "lender" | "borrower"
  /** Whether `repaymentAmount` falls with repayments or stays as it was at the start. */
  readonly repaymentAmount: "outstanding" | "original"
  /** When interest is income: when the service tells of it, or when it is paid. */
  readonly interest: "as_stated" | "when_paid"
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

export interface Amounts {
  readonly principal: Amount
  readonly interest: Amount
  readonly income: Amount
  /** Interest that was told and is not paid, where it is income only when it is. */
  readonly deferred: Amount
  readonly cash: Amount
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

const { add, negate, subtract, zero } = Money
const max = (a: Amount, b: Amount): Amount => (Money.isPositive(subtract(a, b)) ? a : b)
const min = (a: Amount, b: Amount): Amount => (Money.isPositive(subtract(a, b)) ? b : a)

/** What the books hold of the receivable, by the lender's signs. */
export interface Standing {
  readonly disbursed: boolean
  readonly principal: Amount
  readonly interest: Amount
  /** Interest that the service has told of so far (`original` only). */
  readonly told: Amount
  /** Interest that is not due any more: paid, told of or not, and forgone where less was paid. Of it what was told and paid. */
  readonly done: Amount
  readonly paid: Amount
  /** Since when interest may have come that no version tells of. */
  readonly readAt: Instant
  /** Everything booked, to be taken back if it is cancelled. */
  readonly sums: Amounts
}

const nothing: Amounts = { principal: zero, interest: zero, income: zero, deferred: zero, cash: zero }

/** Before the first version: the receivable was issued. */
export const start = (issuedAt: Instant): Standing => ({
  disbursed: false,
  principal: zero,
  interest: zero,
  told: zero,
  done: zero,
  paid: zero,
  readAt: issuedAt,
  sums: nothing,
})

const disbursement = (principal: Amount): Amounts => ({ ...nothing, principal, cash: negate(principal) })

const accrual = (interest: Amount, { interest: policy }: ReceivableView): Amounts =>
  policy === "as_stated"
    ? { ...nothing, interest, income: negate(interest) }
    : { ...nothing, interest, deferred: negate(interest) }

const repayment = (principal: Amount, interest: Amount, { interest: policy }: ReceivableView): Amounts => ({
  principal: negate(principal),
  interest: negate(interest),
  income: policy === "as_stated" ? zero : negate(interest),
  deferred: policy === "as_stated" ? zero : interest,
  cash: add(principal, interest),
})

const plus = (a: Amounts, b: Amounts): Amounts => ({
  principal: add(a.principal, b.principal),
  interest: add(a.interest, b.interest),
  income: add(a.income, b.income),
  deferred: add(a.deferred, b.deferred),
  cash: add(a.cash, b.cash),
})

export const minus = (a: Amounts): Amounts => ({
  principal: negate(a.principal),
  interest: negate(a.interest),
  income: negate(a.income),
  deferred: negate(a.deferred),
  cash: negate(a.cash),
})

export const isNothing = (a: Amounts): boolean =>
  Object.values(a).every((amount: Amount) => Money.isZero(amount))

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

/** The principal that was lent and repaid between what stands and a live version. */
const principalOf = (before: Standing, now: ReceivableVersion) => {
  const lent = before.disbursed
    ? max(subtract(now.currentPrincipal, before.principal), zero)
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

/** What is due of the interest of the whole term. What was paid before anybody told of it is part of what is told later. */
const unpaidOf = (told: Amount, { done, paid }: Pick<Standing, "done" | "paid">): Amount =>
  max(subtract(told, done), min(subtract(told, paid), zero))

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
      ? unpaidOf(toldBy(before, now), before)
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
  const shown = max(min(subtract(knownCash(now.repayments), repaid), add(settled, allowed)), zero)
  const paid = Option.isSome(cash) ? shown : max(least, shown)
  const beyond = Money.isPositive(subtract(paid, settled))
  const accrued = isOriginal
    ? // Fully repaid: what was not paid of the interest is not due any more.
      isPaid || beyond
      ? subtract(paid, before.interest)
      : subtract(unpaidOf(toldBy(before, now), before), before.interest)
    : add(subtract(interestAfter(now), before.interest), paid)
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
      amounts: repayment(repaid, paid, view),
    },
  ]
}

export const follow = (before: Standing, now: ReceivableVersion, booked: ReadonlyArray<Booked>): Standing => {
  if (now.status === "CANCELED") return start(now.servedAt)
  const sums = booked.reduce((sum, { amounts }) => plus(sum, amounts), before.sums)
  const told = isLive(now.status) ? toldBy(before, now) : before.told
  const interest = subtract(
    zero,
    Money.total(booked.map((one) => (one.part === "repayment" ? one.amounts.interest : zero))),
  )
  const isDone =
    now.status === "PAID" || Money.isPositive(subtract(interest, max(unpaidOf(told, before), zero)))
  const [done, paid] = [add(before.done, interest), add(before.paid, interest)]
  return {
    disbursed: before.disbursed || isLive(now.status),
    principal: sums.principal,
    interest: sums.interest,
    told,
    done: isDone ? max(done, told) : done,
    paid: isDone ? min(paid, told) : paid,
    readAt: now.servedAt,
    sums,
  }
}
