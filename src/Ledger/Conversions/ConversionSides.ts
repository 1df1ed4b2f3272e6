/**
 * When a conversion is whole, and what is then booked of it: from all its statement entries, whatever the order in which they
 * came, to the entries between `conversions_in_transit` and `trading`. Plain functions of data. Source: `docs/design.md`.
 *
 * The account shows which side an entry is on. The conversion's status decides nothing; only the statements do.
 */
import type { Amount } from "../../Common/Money.ts"
import * as Money from "../../Common/Money.ts"
import type { Instant } from "../../Partner/Instant.ts"
import type { Line } from "../JournalEntry.ts"

/** The amounts that one account should see of the conversion, in the major unit of `currency`. */
export interface Side {
  readonly accountId: string
  readonly currency: string
  readonly amount: Amount
  /** The stated fee, where it is charged on this side; else zero. */
  readonly fee: Amount
}

export interface Terms {
  readonly sell: Side
  readonly buy: Side
}

/** A statement entry of the conversion that is booked. */
export interface LegEntry {
  readonly accountId: string
  readonly position: bigint
  readonly occurredAt: Instant
  readonly currency: string
  readonly type: "CREDIT" | "DEBIT"
  readonly amount: Amount
  /** Its amount in transit, debit positive: its own lines and their reclassifications. */
  readonly transit: Amount
}

/** An entry of the whole conversion that is booked already. */
export interface Written {
  readonly entryId: bigint
  readonly sequence: number
  readonly kind: string
  /** The time that it is dated by; of a late entry, the first open day that it was dated to. */
  readonly datedAt: Instant
  /** By currency, what it put on `trading`: debit positive. */
  readonly traded: ReadonlyMap<string, Amount>
}

/** An entry to be booked. */
export interface Step {
  readonly kind: "conversion_whole" | "conversion_reversal" | "reclassification"
  readonly sequence: number
  readonly occurredAt: Instant
  /** The sequence of the entry that it reverses. */
  readonly reverses: number | null
  readonly lines: ReadonlyArray<Line>
}

type Sums = ReadonlyMap<string, Amount>

/** A time during which the conversion was whole, from the first entry at which it was, with what had moved by the last such entry. */
interface Phase {
  readonly traded: Sums
  readonly wholeAt: Instant
  readonly reversedAt: Instant | null
}

const compare = <A>(a: A, b: A): number => (a < b ? -1 : a > b ? 1 : 0)

const inOrder = (a: LegEntry, b: LegEntry): number =>
  compare(a.occurredAt, b.occurredAt) || compare(a.accountId, b.accountId) || compare(a.position, b.position)

const plus = (sums: Sums, more: Iterable<readonly [string, Amount]>, sign: 1 | -1 = 1): Sums => {
  const total = new Map(sums)
  for (const [currency, amount] of more) {
    const before = total.get(currency) ?? Money.zero
    total.set(currency, sign === 1 ? Money.add(before, amount) : Money.subtract(before, amount))
  }
  return total
}

const isNothing = (sums: Sums): boolean => [...sums.values()].every(Money.isZero)

/** Debits and credits of one account. */
interface Shown {
  readonly debits: Amount
  readonly credits: Amount
}

const oneOf = (amount: Amount, ...amounts: ReadonlyArray<Amount>): boolean =>
  amounts.some((one) => Money.equals(one, amount))

const isSold = ({ amount, fee }: Side, { credits, debits }: Shown): boolean => {
  const sold = Money.subtract(debits, credits)
  const withFee = Money.add(amount, fee)
  if (!Money.isPositive(sold)) return false
  // The fee inside, on top, or given back by an entry of its own.
  return oneOf(sold, amount, withFee) || (Money.equals(credits, fee) && oneOf(debits, amount, withFee))
}

const isBought = ({ amount, fee }: Side, { credits, debits }: Shown): boolean => {
  const bought = Money.subtract(credits, debits)
  return Money.isPositive(bought) && oneOf(bought, amount, Money.subtract(amount, fee))
}

/** Kept fees are apart: they stand in `fees`. */
const isReturned = ({ buy, sell }: Terms, sold: Shown, bought: Shown): boolean =>
  oneOf(Money.subtract(sold.debits, sold.credits), Money.zero, sell.fee) &&
  oneOf(Money.subtract(bought.debits, bought.credits), Money.zero, buy.fee)

const nothingShown: Shown = { debits: Money.zero, credits: Money.zero }

const shownWith = ({ credits, debits }: Shown, { amount, type }: LegEntry): Shown =>
  type === "DEBIT"
    ? { debits: Money.add(debits, amount), credits }
    : { debits, credits: Money.add(credits, amount) }

const isOn = ({ accountId, currency }: Side, leg: LegEntry): boolean =>
  leg.accountId === accountId && leg.currency === currency

const phaseSince = (standing: Phase | null, { occurredAt }: LegEntry, traded: Sums): Phase => ({
  traded,
  wholeAt: standing?.wholeAt ?? occurredAt,
  reversedAt: null,
})

/** The times during which the conversion was whole, by its entries in their order. */
const phasesOf = (terms: Terms, legs: ReadonlyArray<LegEntry>): ReadonlyArray<Phase> => {
  const phases: Array<Phase> = []
  let standing: Phase | null = null
  let sold = nothingShown
  let bought = nothingShown
  let traded: Sums = new Map()
  const inTransit = { sold: Money.zero, bought: Money.zero }
  for (const leg of legs) {
    if (isOn(terms.sell, leg)) {
      sold = shownWith(sold, leg)
      inTransit.sold = Money.add(inTransit.sold, leg.transit)
    } else if (isOn(terms.buy, leg)) {
      bought = shownWith(bought, leg)
      inTransit.bought = Money.add(inTransit.bought, leg.transit)
    }
    // An entry on another account is no part of it: it stands in transit.
    else continue
    traded = plus(traded, [[leg.currency, leg.transit]])
    if (standing !== null && isReturned(terms, sold, bought)) {
      phases.push({ ...standing, reversedAt: leg.occurredAt })
      standing = null
      continue
    }
    const complete = isSold(terms.sell, sold) && isBought(terms.buy, bought)
    // A side that a person has moved elsewhere takes no part, or the other side would become a gain out of nothing. That
    // other side stays in transit, an open item, until somebody brings the two together.
    const both = !Money.isZero(inTransit.sold) && !Money.isZero(inTransit.bought)
    // More than one total is complete: a later entry may show that the service meant another than the first one did.
    if (complete && both) standing = phaseSince(standing, leg, traded)
  }
  if (standing !== null) phases.push(standing)
  // Both sides in one currency and of one amount: nothing stands in transit, and nothing is to be moved.
  return phases.filter((phase) => !isNothing(phase.traded))
}

/** What is booked of the conversion as a whole. */
interface BookedConversion {
  /** The sequence of the entry that stands, and the time that dates it; null: none does. */
  readonly whole: Pick<Written, "sequence" | "datedAt"> | null
  readonly traded: Sums
  /** How many times it was whole. */
  readonly times: number
  readonly sequence: number
}

const standingOf = (written: ReadonlyArray<Written>): BookedConversion => {
  let standing: BookedConversion = { whole: null, traded: new Map(), times: 0, sequence: -1 }
  for (const entry of [...written].sort((a, b) => a.sequence - b.sequence)) {
    const { kind, sequence } = entry
    const traded = plus(standing.traded, entry.traded)
    if (kind === "conversion_whole") standing = { whole: entry, traded, times: standing.times + 1, sequence }
    else
      standing = { ...standing, traded, sequence, ...(kind === "conversion_reversal" ? { whole: null } : {}) }
  }
  return standing
}

const linesOf = (traded: Sums, { buy, sell }: Terms): ReadonlyArray<Line> =>
  [...new Set([sell.currency, buy.currency, ...[...traded.keys()].sort()])].flatMap((currency) => {
    const amount = traded.get(currency) ?? Money.zero
    if (Money.isZero(amount)) return []
    const line = { currency, partnerAccountId: null, rule: null }
    const onTrading: Line = { ...line, role: "trading", amount }
    const inTransit: Line = { ...line, role: "conversions_in_transit", amount: Money.negate(amount) }
    return Money.isPositive(amount) ? [onTrading, inTransit] : [inTransit, onTrading]
  })

/**
 * The entries that are still to be booked of a conversion as a whole; none if the books have them already. Everything follows
 * the order of the entries themselves, so what is booked at once does not depend on the order in which they came.
 */
export const stepsOf = (
  terms: Terms,
  entries: ReadonlyArray<LegEntry>,
  written: ReadonlyArray<Written>,
): ReadonlyArray<Step> => {
  const legs = [...entries].sort(inOrder)
  const phases = phasesOf(terms, legs)
  const steps: Array<Step> = []
  let { sequence, times, traded, whole } = standingOf(written)
  const add = (
    kind: Step["kind"],
    occurredAt: Instant,
    moved: Sums,
    reverses: number | null = null,
  ): void => {
    sequence += 1
    steps.push({ kind, sequence, occurredAt, reverses, lines: linesOf(moved, terms) })
    traded = plus(traded, moved)
  }
  const reverse = (at: Instant): void => {
    if (whole === null) return
    add("conversion_reversal", at, plus(new Map(), traded, -1), whole.sequence)
    whole = null
  }
  const follow = (phase: Phase): void => {
    if (whole === null) {
      add("conversion_whole", phase.wholeAt, phase.traded)
      whole = { sequence, datedAt: phase.wholeAt }
    } else if (phase.reversedAt === null) {
      const moved = plus(phase.traded, traded, -1)
      if (!isNothing(moved)) add("reclassification", whole.datedAt, moved)
    }
    if (phase.reversedAt !== null) reverse(phase.reversedAt)
  }
  for (const phase of phases.slice(whole === null ? times : times - 1)) follow(phase)
  // After changed terms, or when older entries were found, the books may have had the conversion whole as often as its entries now do,
  // or more often, and not as it stands now.
  const last = phases.at(-1)
  if (phases.length <= times) {
    if (last !== undefined && last.reversedAt === null) follow(last)
    else reverse(last?.reversedAt ?? legs.at(-1)?.occurredAt ?? whole?.datedAt ?? "")
  }
  return steps
}
