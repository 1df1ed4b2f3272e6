/**
 * From statement entries and the resource behind them to balanced journal entries: the posting table of `design.md` as
 * plain functions of data. Cash comes from the statement entry alone; the resource decides what stands against it.
 */
import { Option } from "effect"
import { signedAmount } from "../Mirror/EntryRow.ts"
import type { PlacedEntry } from "../Mirror/StatementEntries.ts"
import type { Amount } from "../Money.ts"
import * as Money from "../Money.ts"
import type { Instant, Resource, StatementEntry } from "../Partner.ts"
import { allocate } from "./Allocation.ts"
import type { JournalEntry, Line, RuleAccount } from "./JournalEntry.ts"
import { describe, kindOf } from "./Kind.ts"
import { type FlatWithdrawalFee, legOf } from "./Leg.ts"
import type { Role } from "./Role.ts"

/** What stands in the books against one statement entry: its non-cash lines, all reclassifications included. */
export interface Posted {
  readonly lines: ReadonlyArray<Line>
  /** The highest sequence used for this entry. */
  readonly sequence: number
  /** Of an entry that was late: the time that dates it. What puts it right is dated as it is, though its own month may be open again. */
  readonly datedAt?: Instant
}

export interface Subject extends PlacedEntry {
  /** None: not posted yet. */
  readonly posted: Option.Option<Posted>
  /** A person has moved something of it. */
  readonly byHand?: boolean
}

export interface PostingContext {
  readonly flatWithdrawalFee: FlatWithdrawalFee
  /** The first posting rule that matches, for the line against cash. */
  readonly rule: (entry: StatementEntry, resource: Option.Option<Resource>) => RuleAccount | null
  /** Whether a receivable names this movement as its disbursement or a repayment: the cash leg of a loan. */
  readonly isLoan: (entry: StatementEntry, resource: Option.Option<Resource>) => boolean
  /** Whom the movement was with. */
  readonly counterparty: (resource: Option.Option<Resource>) => Option.Option<string>
}

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
  if (!Money.isZero(counter)) lines.push({ role, currency, amount: counter, partnerAccountId: null, rule })
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

const amountsByRole = (
  lines: ReadonlyArray<Line>,
  roleOf: (line: Line) => Role = ({ role }) => role,
): Map<Role, Amount> => {
  const sums = new Map<Role, Amount>()
  for (const line of lines) {
    const role = roleOf(line)
    sums.set(role, Money.add(sums.get(role) ?? Money.zero, line.amount))
  }
  return sums
}

/**
 * Where what stands against cash may be instead of its own account: where a person has put it, and conversions of before
 * there was an account for those in transit. It stays there.
 */
const isStandIn = (role: Role, counter: Role | undefined): boolean =>
  role === "other" || (role === "trading" && counter === "conversions_in_transit")

/**
 * What moves between the non-cash accounts so that they stand as `target` says; none where they already do. A role that
 * is posted already keeps the account it was posted to: changed rules are applied by the controller, not in passing.
 */
const reclassification = (
  subject: PlacedEntry,
  posted: Posted,
  target: ReadonlyArray<Line>,
  resource: Option.Option<Resource>,
  context: PostingContext,
): Option.Option<JournalEntry> => {
  const counter = target.find(({ role }) => role !== "fees")?.role
  const standsFor = ({ role }: Line): Role => (isStandIn(role, counter) ? (counter ?? role) : role)
  const before = amountsByRole(posted.lines, standsFor)
  const after = amountsByRole(target)
  const lines: Array<Line> = []
  for (const role of new Set([...before.keys(), ...after.keys()])) {
    const amount = Money.subtract(after.get(role) ?? Money.zero, before.get(role) ?? Money.zero)
    if (Money.isZero(amount)) continue
    const place =
      posted.lines.find((line) => line.role === role) ??
      posted.lines.find((line) => standsFor(line) === role) ??
      target.find((line) => line.role === role)
    const { currency } = subject.entry
    lines.push({
      role: place?.role ?? role,
      currency,
      amount,
      partnerAccountId: null,
      rule: place?.rule ?? null,
    })
  }
  if (lines.length === 0) return Option.none()
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

/** The non-cash lines that should stand against each statement entry of a movement on one account, in their order. */
export const targetsOf = (
  subjects: ReadonlyArray<PlacedEntry>,
  resource: Option.Option<Resource>,
  context: PostingContext,
): ReadonlyArray<ReadonlyArray<Line>> => {
  const entries = subjects.map((subject) => subject.entry)
  const [first] = entries
  if (first === undefined) return []
  const fees = Option.match(resource, {
    onNone: () => entries.map(() => Money.zero),
    onSome: (found) => allocate(legOf(found, first, context.flatWithdrawalFee), entries),
  })
  return entries.map((entry, at) => {
    const lent = context.isLoan(entry, resource)
    return against(
      entry,
      lent ? "loan_clearing" : counterRole(entry, resource),
      fees[at] ?? Money.zero,
      lent ? null : context.rule(entry, resource),
    )
  })
}

/**
 * Journal entries for one movement on one account. `subjects` are all its statement entries on that account in posting
 * order, posted or not; what is posted is left as it stands where it is right, and reclassified where it is not.
 */
export const postMovement = (
  subjects: ReadonlyArray<Subject>,
  resource: Option.Option<Resource>,
  context: PostingContext,
): ReadonlyArray<JournalEntry> => {
  const targets = targetsOf(subjects, resource, context)
  return subjects.flatMap((subject, at): ReadonlyArray<JournalEntry> => {
    const target = targets[at] ?? []
    return Option.match(subject.posted, {
      onNone: () => [firstPosting(subject, resource, target, context)],
      onSome: (posted) => Option.toArray(reclassification(subject, posted, target, resource, context)),
    })
  })
}
