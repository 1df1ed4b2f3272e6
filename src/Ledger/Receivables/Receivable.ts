/**
 * From the versions of a receivable to journal entries: the rows on receivables of `docs/design.md`, as plain functions of data.
 */
import { Option } from "effect"
import type { Amount } from "../../Common/Money.ts"
import * as Money from "../../Common/Money.ts"
import type { Instant } from "../../Partner/Instant.ts"
import type { JournalEntry, Line } from "../JournalEntry.ts"
import type { Role } from "../Role.ts"
import { type Amounts, isNothing, minus } from "./ReceivableAmounts.ts"
import { scaleFor } from "./ReceivableCash.ts"
import { start } from "./ReceivableStanding.ts"
import { type Booked, follow, type Part, parts, step } from "./ReceivableSteps.ts"
import type { ReceivableVersion, ReceivableView } from "./ReceivableVersion.ts"

export interface ReceivableInput {
  readonly receivableId: string
  readonly currency: string
  readonly counterparty: Option.Option<string>
  readonly issuedAt: Instant
  /** In order, from the first. */
  readonly versions: ReadonlyArray<ReceivableVersion>
  /** What is booked already, by the `sequence` of its part. */
  readonly posted: ReadonlyMap<number, PostedPart>
  /** The receivable was booked by other settings. */
  readonly resettled?: boolean
}

/** What stands in the books of one part of a version, its corrections included. */
export interface PostedPart {
  readonly lines: ReadonlyArray<Line>
  /** How many corrections it has had. */
  readonly corrections: number
}

/** Distance between the numbers of two parts, so that a part keeps its number however many parts there are. */
const roomPerPart = 64
const roomPerVersion = roomPerPart * parts.length

/** The sequence of a part, which its first entry and all its corrections share; corrections have a counter of their own. */
export const sequenceOf = (version: number, part: Part): number =>
  version * roomPerVersion + parts.indexOf(part) * roomPerPart

/** The version that an entry of this sequence comes from. */
export const versionOfSequence = (sequence: number): number => Math.floor(sequence / roomPerVersion)

const roles = {
  lender: {
    principal: "receivable_principal",
    interest: "receivable_interest",
    income: "interest_income",
    deferred: "deferred_interest",
    cash: "loan_clearing",
  },
  borrower: {
    principal: "loan_payable",
    interest: "interest_payable",
    income: "interest_expense",
    deferred: "deferred_interest",
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
  const all = (["principal", "interest", "deferred", "income", "cash"] as const)
    .map(line)
    .filter(({ amount }) => !Money.isZero(amount))
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

const wordsOf = ({ amounts, estimated, part }: Booked): string =>
  part !== "repayment"
    ? words[part]
    : Money.isNegative(amounts.cash)
      ? "Repayment of receivable taken back"
      : `${words.repayment}${estimated ? " (estimated)" : ""}`

/** The lines that lead from what is booked to `target`; none if it is all there. */
const difference = (target: ReadonlyArray<Line>, posted: PostedPart): ReadonlyArray<Line> => {
  const sums = new Map<Role, Amount>()
  for (const { amount, role } of target) sums.set(role, Money.add(sums.get(role) ?? Money.zero, amount))
  for (const { amount, role } of posted.lines)
    sums.set(role, Money.subtract(sums.get(role) ?? Money.zero, amount))
  const [first] = [...target, ...posted.lines]
  if (first === undefined) return []
  const lines = [...sums].map(([role, amount]): Line => ({ ...first, role, amount, rule: null }))
  return [
    ...lines.filter(({ amount }) => Money.isPositive(amount)),
    ...lines.filter(({ amount }) => Money.isNegative(amount)),
  ]
}

/**
 * The entries that are missing for the books to show all versions. What is booked already stays; where a transaction, or a
 * receivable that shares one, has come since and shows it to be wrong, a reclassification puts it right, any number of times.
 */
export const receivableEntries = (
  input: ReceivableInput,
  view: ReceivableView,
): ReadonlyArray<JournalEntry> => {
  const scale = scaleFor(input.currency)
  let standing = start(input.issuedAt)
  const entries: Array<JournalEntry> = []
  for (const now of input.versions) {
    const booked = step(standing, now, view, scale)
    standing = follow(standing, now, booked)
    for (const one of booked) {
      const { amounts, occurredAt, part, version } = one
      const sequence = sequenceOf(version, part)
      const target = isNothing(amounts) ? [] : linesOf(amounts, input.currency, view)
      const posted = input.posted.get(sequence)
      const lines = posted === undefined ? target : difference(target, posted)
      if (lines.length === 0) continue
      entries.push({
        sourceType: "receivable_version",
        sourceId: input.receivableId,
        kind: posted === undefined ? part : "reclassification",
        sequence,
        correction: posted === undefined ? 0 : posted.corrections + 1,
        occurredAt,
        partnerAccountId: null,
        position: null,
        resourceType: "RECEIVABLE",
        resourceId: input.receivableId,
        description:
          posted === undefined
            ? wordsOf(one)
            : `Reclassification: ${part} of receivable, ${input.resettled === true ? "by the settings of now" : "now that its cash is known"}`,
        externalReference: Option.none(),
        counterparty: input.counterparty,
        lines,
      })
    }
  }
  return entries
}
