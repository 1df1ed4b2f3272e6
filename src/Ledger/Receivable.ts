/**
 * From the versions of a receivable to journal entries: the rows on receivables of `design.md`, as plain functions of data.
 * A receivable is a snapshot: what happened between two versions follows from their difference, and how much was paid from
 * the cash that the repayment's transaction moved, where the books have it.
 *
 * Amounts are in the major unit of the receivable's currency.
 */
import { Option } from "effect"
import type { Amount } from "../Money.ts"
import * as Money from "../Money.ts"
import type { Instant } from "../Partner.ts"
import type { JournalEntry, Line } from "./JournalEntry.ts"
import type { Posted } from "./Posting.ts"
import type { Role } from "./Role.ts"

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

export interface ReceivableInput {
  readonly receivableId: string
  readonly currency: string
  readonly counterparty: Option.Option<string>
  /** In order, from the first. */
  readonly versions: ReadonlyArray<ReceivableVersion>
  /** What is booked already, by `sequence` of the entry that it belongs to. */
  readonly posted: ReadonlyMap<number, Posted>
}

/** The parts of a version, in the order of their numbers. */
const parts = ["disbursement", "accrual", "repayment", "cancellation"] as const
type Part = (typeof parts)[number]

/** Entries that put a part right follow its own number; so many have room. */
const roomPerPart = 64
const roomPerVersion = roomPerPart * parts.length

/** The sequence of a part's first entry. */
const sequenceOf = (version: number, part: Part): number =>
  version * roomPerVersion + parts.indexOf(part) * roomPerPart

/** The version that an entry of this sequence comes from. */
export const versionOfSequence = (sequence: number): number => Math.floor(sequence / roomPerVersion)

/** The sequence of the part that an entry books or puts right. */
export const partSequence = (sequence: number): number => sequence - (sequence % roomPerPart)

interface Booked {
  readonly part: Part
  readonly version: number
  readonly occurredAt: Instant
  readonly estimated: boolean
  /** By the lender's roles: principal, interest, income, cash. Debit positive. */
  readonly amounts: Amounts
}

interface Amounts {
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
interface Standing {
  readonly disbursed: boolean
  readonly principal: Amount
  readonly interest: Amount
  /** Interest that the service has told of so far (`original` only). */
  readonly told: Amount
  /** Everything booked, to be taken back if it is cancelled. */
  readonly sums: Amounts
}

const nothing: Amounts = { principal: zero, interest: zero, income: zero, cash: zero }
const start: Standing = { disbursed: false, principal: zero, interest: zero, told: zero, sums: nothing }

const plus = (a: Amounts, b: Amounts): Amounts => ({
  principal: add(a.principal, b.principal),
  interest: add(a.interest, b.interest),
  income: add(a.income, b.income),
  cash: add(a.cash, b.cash),
})

const minus = (a: Amounts): Amounts => ({
  principal: negate(a.principal),
  interest: negate(a.interest),
  income: negate(a.income),
  cash: negate(a.cash),
})

const isNothing = (a: Amounts): boolean => Object.values(a).every((amount: Amount) => Money.isZero(amount))

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
const step = (before: Standing, now: ReceivableVersion, view: ReceivableView): ReadonlyArray<Booked> => {
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

const follow = (before: Standing, now: ReceivableVersion, booked: ReadonlyArray<Booked>): Standing => {
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

const roles = {
  lender: {
    principal: "receivable_principal",
    interest: "receivable_interest",
    income: "interest_income",
    cash: "loan_clearing",
  },
  borrower: {
    principal: "loan_payable",
    interest: "interest_payable",
    income: "interest_expense",
    cash: "loan_clearing",
  },
} as const satisfies Record<ReceivableView["view"], Record<keyof Amounts, Role>>

/** The borrower's lines are the mirror image of the lender's. */
const linesOf = (amounts: Amounts, currency: string, { view }: ReceivableView): ReadonlyArray<Line> => {
  const signed = view === "lender" ? amounts : minus(amounts)
  const line = (part: keyof Amounts): Line => ({
    role: roles[view][part],
    currency,
    amount: signed[part],
    partnerAccountId: null,
    rule: null,
  })
  const all = [line("principal"), line("interest"), line("income"), line("cash")].filter(
    ({ amount }) => !Money.isZero(amount),
  )
  return [
    ...all.filter(({ amount }) => Money.isPositive(amount)),
    ...all.filter(({ amount }) => !Money.isPositive(amount)),
  ]
}

const words: { readonly [P in Part]: string } = {
  disbursement: "Receivable disbursed",
  accrual: "Interest and fees of receivable",
  repayment: "Receivable repaid",
  cancellation: "Receivable cancelled",
}

/** What is missing of `target` in what is booked; none where it is all there. */
const difference = (target: ReadonlyArray<Line>, posted: Posted): ReadonlyArray<Line> => {
  const sums = new Map<Role, Amount>()
  for (const { amount, role } of target) sums.set(role, add(sums.get(role) ?? zero, amount))
  for (const { amount, role } of posted.lines) sums.set(role, subtract(sums.get(role) ?? zero, amount))
  const [first] = [...target, ...posted.lines]
  if (first === undefined) return []
  const lines = [...sums].map(([role, amount]): Line => ({ ...first, role, amount, rule: null }))
  return [
    ...lines.filter(({ amount }) => Money.isPositive(amount)),
    ...lines.filter(({ amount }) => Money.isPositive(negate(amount))),
  ]
}

/**
 * The entries that are missing for the books to show all versions. What is booked already stays; where a transaction that
 * has come since shows it to have been estimated wrongly, a reclassification puts it right.
 */
export const receivableEntries = (
  input: ReceivableInput,
  view: ReceivableView,
): ReadonlyArray<JournalEntry> => {
  let standing = start
  const entries: Array<JournalEntry> = []
  for (const now of input.versions) {
    const booked = step(standing, now, view)
    standing = follow(standing, now, booked)
    for (const { amounts, estimated, occurredAt, part, version } of booked) {
      const sequence = sequenceOf(version, part)
      const target = isNothing(amounts) ? [] : linesOf(amounts, input.currency, view)
      const posted = input.posted.get(sequence)
      const lines = posted === undefined ? target : difference(target, posted)
      if (lines.length === 0) continue
      entries.push({
        sourceType: "receivable_version",
        sourceId: input.receivableId,
        kind: posted === undefined ? part : "reclassification",
        sequence: posted === undefined ? sequence : posted.sequence + 1,
        occurredAt,
        partnerAccountId: null,
        position: null,
        resourceType: "RECEIVABLE",
        resourceId: input.receivableId,
        description:
          posted === undefined
            ? `${words[part]}${part === "repayment" && estimated ? " (estimated)" : ""}`
            : `Reclassification: ${part} of receivable, now that its cash is known`,
        externalReference: Option.none(),
        counterparty: input.counterparty,
        lines,
      })
    }
  }
  return entries
}
