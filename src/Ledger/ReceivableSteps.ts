/**
 * What happened between two versions of a receivable, as amounts by the lender's signs. A receivable is a snapshot: what
 * happened follows from the difference, and how much was paid from the cash that the repayment's transaction moved, where
 * the books have it.
 *
 * Amounts are in the major unit of the receivable's currency, debit positive.
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
  readonly txTimestamp: Instant
  /** What it moved between cash and the loan, positive in its expected direction; none where the books do not have it. */
  readonly cash: Option.Option<Amount>
}

export interface ReceivableView {
  readonly view: "lender" | "borrower"
  /** Whether `repaymentAmount` falls with repayments or stays as it was at the start. */
  readonly repaymentAmount: "outstanding" | "original"
}

/** The parts of a version, in the order of their numbers. */
export const parts = ["disbursement", "accrual", "repayment", "cancellation"] as const
export type Part = (typeof parts)[number]

export interface Booked {
  readonly part: Part
  readonly version: number
  readonly occurredAt: Instant
  readonly estimated: boolean
  /** By the lender's roles: principal, interest, income, cash. Debit positive. */
  readonly amounts: Amounts
}

export interface Amounts {
  readonly principal: Amount
  readonly interest: Amount
  readonly income: Amount
  readonly cash: Amount
}

const { add, negate, subtract, zero } = Money
const max = (a: Amount, b: Amount): Amount => (Money.isPositive(subtract(a, b)) ? a : b)

const disbursement = (principal: Amount): Amounts => ({
  principal,
  interest: zero,
  income: zero,
  cash: negate(principal),
})

const accrual = (interest: Amount): Amounts => ({
  principal: zero,
  interest,
  income: negate(interest),
  cash: zero,
})

const repayment = (principal: Amount, interest: Amount): Amounts => ({
  principal: negate(principal),
  interest: negate(interest),
  income: zero,
  cash: add(principal, interest),
})

/** What the books hold of the receivable, by the lender's signs. */
export interface Standing {
  readonly disbursed: boolean
  readonly principal: Amount
  readonly interest: Amount
  /** Interest that the service has told of so far (`original` only). */
  readonly told: Amount
  /** Everything booked, to be taken back if it is cancelled. */
  readonly sums: Amounts
}

const nothing: Amounts = { principal: zero, interest: zero, income: zero, cash: zero }
export const start: Standing = {
  disbursed: false,
  principal: zero,
  interest: zero,
  told: zero,
  sums: nothing,
}

const plus = (a: Amounts, b: Amounts): Amounts => ({
  principal: add(a.principal, b.principal),
  interest: add(a.interest, b.interest),
  income: add(a.income, b.income),
  cash: add(a.cash, b.cash),
})

export const minus = (a: Amounts): Amounts => ({
  principal: negate(a.principal),
  interest: negate(a.interest),
  income: negate(a.income),
  cash: negate(a.cash),
})

export const isNothing = (a: Amounts): boolean =>
  Object.values(a).every((amount: Amount) => Money.isZero(amount))

/** The cash of all transactions together; none where one of them is not in the books. */
const cashOf = (transactions: ReadonlyArray<Transaction>): Option.Option<Amount> =>
  transactions.length === 0
    ? Option.none()
    : transactions.reduce<Option.Option<Amount>>(
        (sum, { cash }) => Option.zipWith(sum, cash, add),
        Option.some(zero),
      )

const latest = (transactions: ReadonlyArray<Transaction>): Option.Option<Instant> =>
  Option.fromNullable(
    transactions
      .map(({ txTimestamp }) => txTimestamp)
      .sort()
      .at(-1),
  )

const isLive = (status: string): boolean => status === "ACTIVE" || status === "PAID"

/** What interest was paid and what interest came due between two versions. */
const interestOf = (
  before: Standing,
  now: ReceivableVersion,
  paidPrincipal: Amount,
  repaid: boolean,
  mode: ReceivableView["repaymentAmount"],
): { readonly paid: Amount; readonly accrued: Amount; readonly told: Amount } => {
  const cash = repaid ? cashOf(now.repayments) : Option.none<Amount>()
  const known = Option.map(cash, (amount) => subtract(amount, paidPrincipal))
  const isPaid = now.status === "PAID"
  if (mode === "original") {
    const told = subtract(now.repaymentAmount, now.initialPrincipal)
    const due = add(before.interest, subtract(told, before.told))
    const paid = Option.getOrElse(known, () => (isPaid ? max(due, zero) : zero))
    // Fully repaid: what was not paid of the interest is not due any more.
    const accrued = isPaid ? subtract(paid, before.interest) : subtract(told, before.told)
    return { paid, accrued, told }
  }
  const after = isPaid ? zero : subtract(now.repaymentAmount, now.currentPrincipal)
  const fallen = subtract(before.interest, after)
  const paid = Option.getOrElse(known, () => (repaid ? max(fallen, zero) : zero))
  return { paid, accrued: add(subtract(after, before.interest), paid), told: zero }
}

/** What one version brings, given what stands before it. */
export const step = (
  before: Standing,
  now: ReceivableVersion,
  view: ReceivableView,
): ReadonlyArray<Booked> => {
  const { servedAt, version } = now
  if (now.status === "CANCELED") {
    return [
      {
        part: "cancellation",
        version,
        occurredAt: servedAt,
        estimated: false,
        amounts: minus(before.sums),
      },
    ]
  }
  if (!isLive(now.status)) return []
  const late = !before.disbursed
  const lent = late ? now.initialPrincipal : max(subtract(now.currentPrincipal, before.principal), zero)
  const principal = add(before.principal, lent)
  const paidPrincipal = subtract(principal, now.currentPrincipal)
  const repaid =
    Money.isPositive(paidPrincipal) ||
    now.repayments.length > 0 ||
    (now.status === "PAID" && before.disbursed && Money.isPositive(before.interest))
  const { accrued, paid } = interestOf(before, now, paidPrincipal, repaid, view.repaymentAmount)
  const estimated = now.repayments.length !== 1 || Option.isNone(cashOf(now.repayments))
  const disbursedAt = Option.match(now.disbursed, {
    onNone: () => servedAt,
    onSome: ({ txTimestamp }) => txTimestamp,
  })
  return [
    { part: "disbursement", version, occurredAt: disbursedAt, estimated: false, amounts: disbursement(lent) },
    { part: "accrual", version, occurredAt: servedAt, estimated: false, amounts: accrual(accrued) },
    {
      part: "repayment",
      version,
      occurredAt: Option.getOrElse(latest(now.repayments), () => servedAt),
      estimated,
      amounts: repayment(paidPrincipal, paid),
    },
  ]
}

export const follow = (before: Standing, now: ReceivableVersion, booked: ReadonlyArray<Booked>): Standing => {
  if (now.status === "CANCELED") return start
  const sums = booked.reduce((sum, { amounts }) => plus(sum, amounts), before.sums)
  return {
    disbursed: before.disbursed || isLive(now.status),
    principal: sums.principal,
    interest: sums.interest,
    told: isLive(now.status) ? subtract(now.repaymentAmount, now.initialPrincipal) : before.told,
    sums,
  }
}
