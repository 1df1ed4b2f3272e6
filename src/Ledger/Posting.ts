/**
 * From statement entries and the resource behind them to balanced journal entries: the posting table of `docs/design.md` as
 * plain functions of data. Cash comes from the statement entry alone; the resource decides what stands against it.
 */
import { Option } from "effect"
import type { Amount } from "../Common/Money.ts"
import * as Money from "../Common/Money.ts"
import { signedAmount } from "../Mirror/EntryRow.ts"
import type { PlacedEntry } from "../Mirror/StatementEntries.ts"
import type { Resource, StatementEntry } from "../Partner.ts"
import { allocate } from "./Allocation.ts"
import { legOf } from "./Conversions/Leg.ts"
import type { JournalEntry, Line, RuleAccount } from "./JournalEntry.ts"
import { describe, kindOf } from "./Kind.ts"
import { merged, placeOf, returnedFromWhereHeld, roleMeant, shifts } from "./Places.ts"
import type { Role } from "./Role.ts"
import type { Posted, PostingContext, Subject } from "./Subject.ts"

const counterRoles: { readonly [K in Resource["resourceType"]]: Role } = {
  DEPOSIT: "deposits_clearing",
  WITHDRAWAL: "withdrawals_clearing",
  CONVERSION: "conversions_in_transit",
}

/** The role against cash, by what the entry says of itself and whether its resource is known. */
const counterRole = (entry: StatementEntry, resource: Option.Option<Resource>): Role => {
  if (Option.isSome(resource)) return counterRoles[resource.value.resourceType]
  return Option.contains(entry.relatedResourceType, "PAYOUT") ? "payouts_clearing" : "suspense"
}

const against = (
  entry: StatementEntry,
  role: Role,
  fee: Amount,
  rule: RuleAccount | null,
): ReadonlyArray<Line> => {
  const { currency } = entry
  const counter = Money.negate(Money.add(signedAmount(entry), fee))
  const lines: Array<Line> = []
  const place = rule === null ? { role } : { role: "other" as const, replaces: role }
  if (!Money.isZero(counter))
    lines.push({ currency, amount: counter, partnerAccountId: null, rule, ...place })
  if (!Money.isZero(fee))
    lines.push({ role: "fees", currency, amount: fee, partnerAccountId: null, rule: null })
  return lines
}

export const debitsFirst = (lines: ReadonlyArray<Line>): ReadonlyArray<Line> => [
  ...lines.filter((line) => Money.isPositive(line.amount)),
  ...lines.filter((line) => !Money.isPositive(line.amount)),
]

export const entryOf = (
  subject: PlacedEntry,
  resource: Option.Option<Resource>,
  context: PostingContext,
  fields: Pick<JournalEntry, "kind" | "sequence" | "description" | "lines"> &
    Partial<Pick<JournalEntry, "occurredAt">>,
): JournalEntry => ({
  sourceType: "statement_entry",
  sourceId: subject.entry.entryId,
  occurredAt: subject.entry.occurredAt,
  partnerAccountId: subject.entry.accountId,
  position: subject.position,
  resourceType: Option.getOrNull(subject.entry.relatedResourceType),
  resourceId: Option.getOrNull(subject.entry.relatedResourceId),
  externalReference: Option.flatMap(resource, (found) => found.externalReference),
  counterparty: context.counterparty(resource),
  ...fields,
})

const firstPosting = (
  subject: PlacedEntry,
  resource: Option.Option<Resource>,
  target: ReadonlyArray<Line>,
  context: PostingContext,
): JournalEntry => {
  const { entry } = subject
  const cash: Line = {
    role: "cash",
    currency: entry.currency,
    amount: signedAmount(entry),
    partnerAccountId: entry.accountId,
    rule: null,
  }
  const kind = kindOf(entry, resource, target)
  return entryOf(subject, resource, context, {
    kind,
    sequence: 0,
    description: describe(kind, entry, resource),
    lines: debitsFirst([cash, ...target]),
  })
}

/**
 * The lines against cash, with the role that a line stands for if its account has another one: accounts that a rule or a person
 * named, and `trading`, which holds conversions from before there was an account for transit. They stay there.
 */
export const withRolesMeant = (
  { entry }: PlacedEntry,
  { lines, roleOfOthers }: Posted,
  resource: Option.Option<Resource>,
): ReadonlyArray<Line> => {
  const counter = counterRole(entry, resource)
  return lines.map((line) => {
    if (line.role === "other") return { ...line, replaces: roleOfOthers ?? counter }
    return line.role === "trading" && counter === "conversions_in_transit"
      ? { ...line, replaces: counter }
      : line
  })
}

/** The lines between non-cash accounts that lead to `target`; none if the accounts stand like that already. */
const reclassification = (
  subject: PlacedEntry,
  posted: Posted,
  target: ReadonlyArray<Line>,
  resource: Option.Option<Resource>,
  context: PostingContext,
): Option.Option<JournalEntry> => {
  const standing = withRolesMeant(subject, posted, resource)
  const lines = shifts(standing, target)
  if (lines.length === 0) return Option.none()
  const before = new Set(standing.map(roleMeant))
  const after = new Set(target.map(roleMeant))
  const type = Option.match(subject.entry.relatedResourceType, {
    onNone: () => "movement",
    onSome: (text) => text.toLowerCase().slice(0, 40),
  })
  const found = before.has("suspense") && !after.has("suspense")
  const lent = after.has("loan_clearing") && !before.has("loan_clearing")
  return Option.some(
    entryOf(subject, resource, context, {
      kind: "reclassification",
      sequence: posted.sequence + 1,
      occurredAt: posted.datedAt ?? subject.entry.occurredAt,
      description: lent
        ? `Reclassification: ${type} is the cash of a receivable`
        : found
          ? `Reclassification: ${type} identified`
          : `Reclassification: fee of ${type}`,
      lines: debitsFirst(lines),
    }),
  )
}

/** The non-cash lines that each statement entry of a movement on one account should have, in their order. */
export const targetsOf = (
  subjects: ReadonlyArray<PlacedEntry>,
  resource: Option.Option<Resource>,
  context: PostingContext,
): ReadonlyArray<ReadonlyArray<Line>> => {
  const entries = subjects.map((subject) => subject.entry)
  const [first] = entries
  if (first === undefined) return []
  const fees = Option.isSome(resource)
    ? allocate(legOf(resource.value, first, context.flatWithdrawalFee), entries)
    : []
  // A receivable may name the movement by any of its entries: a returned part of a repayment belongs to the loan, too.
  const lent = entries.some((entry) => context.isLoan(entry, resource))
  return entries.map((entry, at) =>
    against(
      entry,
      lent ? "loan_clearing" : counterRole(entry, resource),
      fees[at] ?? Money.zero,
      lent ? null : (context.rule(entry, resource)?.account ?? null),
    ),
  )
}

/**
 * The accounts for the lines of a movement's next entry, or of an entry whose movement has only now become known. A return is
 * taken from where the movement's amount stands, so that a movement that was returned leaves nothing anywhere. Of the posting
 * rules only one that names the return's direction sends it elsewhere, and none does for an amount that a person has moved.
 */
export const placeLines = (
  subject: Subject,
  target: ReadonlyArray<Line>,
  standing: ReadonlyArray<Line>,
  resource: Option.Option<Resource>,
  context: PostingContext,
  byHand: boolean,
): ReadonlyArray<Line> => {
  if (standing.length === 0) return target
  if (!byHand) {
    // If no account was ever named, the role alone decides.
    if (![...standing, ...target].some(({ role }) => role === "other")) return target
    if (context.rule(subject.entry, resource)?.isDirected === true) return target
  }
  return returnedFromWhereHeld(target, standing)
}

/** A return to the account where a person had put a loan's cash stands for that cash, too. */
const asLoanWhereMoved = (posted: Posted, standing: ReadonlyArray<Line>): Posted => {
  const isLoans = standing.some(
    (held) =>
      held.role === "other" &&
      roleMeant(held) === "loan_clearing" &&
      posted.lines.some(({ role, rule }) => role === "other" && rule?.code === held.rule?.code),
  )
  return isLoans && posted.roleOfOthers === undefined ? { ...posted, roleOfOthers: "loan_clearing" } : posted
}

/**
 * Journal entries for one movement on one account. `subjects` are all its statement entries on that account in posting order,
 * posted or not. Postings that are right stay; others are reclassified.
 */
export const postMovement = (
  subjects: ReadonlyArray<Subject>,
  resource: Option.Option<Resource>,
  context: PostingContext,
): ReadonlyArray<JournalEntry> => {
  const targets = targetsOf(subjects, resource, context)
  const byHand = subjects.some((subject) => subject.byHand === true)
  const several = subjects.length > 1
  let standing: ReadonlyArray<Line> = []
  return subjects.flatMap((subject, at): ReadonlyArray<JournalEntry> => {
    const target = placeLines(subject, targets[at] ?? [], standing, resource, context, byHand)
    const stand = (lines: ReadonlyArray<Line>): void => {
      if (several || byHand) standing = merged([...standing, ...lines], placeOf)
    }
    if (Option.isNone(subject.posted)) {
      stand(target)
      return [firstPosting(subject, resource, target, context)]
    }
    const posted = byHand ? asLoanWhereMoved(subject.posted.value, standing) : subject.posted.value
    const put = reclassification(subject, posted, target, resource, context)
    stand([
      ...withRolesMeant(subject, posted, resource),
      ...Option.match(put, { onNone: () => [], onSome: (made) => made.lines }),
    ])
    return Option.toArray(put)
  })
}
