/**
 * Where the counter line of every entry stands: by the posting rules, and by what persons moved.
 *
 * An entry goes where the rules say by the time that it is known what it is, and stays there until the rules are applied to what is
 * booked. What comes back of a movement comes from where that stands, in the order of its entries, the first first; only a
 * rule that names the direction sends it to an account of its own. The cash of a loan is no rule's.
 *
 * Reading: what a person moved is what of the entry's counter line stands in its own account (clearing, transit, suspense); its
 * fee stays. What was moved out of suspense is known no better: once the entry says what it is, it goes on to where that
 * stands. What is booked after a person moved something of the movement comes from where that stands, whatever a rule names;
 * and rules that are applied to what is booked pass such a movement over.
 */
import type { BookedFact, BookFacts, ReclassifiedFact, RuledFact } from "../Facts.ts"
import { larger, smaller } from "./Decimal.ts"
import { ruleFor } from "./Rules.ts"
import { grouped, type Posted } from "./Statement.ts"
import { subjectOf } from "./Subject.ts"

/** Null where the line stands in the entry's own counter-account. */
export interface Place {
  readonly code: string | null
  readonly amount: bigint
}

type Places = ReadonlyArray<Place>

const onto = (standing: Places, more: Places): Places => {
  const sums = new Map<string | null, bigint>()
  for (const { amount, code } of [...standing, ...more]) sums.set(code, (sums.get(code) ?? 0n) + amount)
  return [...sums].flatMap(([code, amount]) => (amount === 0n ? [] : [{ code, amount }]))
}

/** Takes an amount from balances of the other sign; the rest goes to `code`. */
const fromThere = (amount: bigint, standing: Places, code: string | null): Places => {
  let left = amount
  const taken = standing.map((there): Place => {
    const most =
      left > 0n ? larger(0n, smaller(left, -there.amount)) : -larger(0n, smaller(-left, there.amount))
    left -= most
    return { code: there.code, amount: most }
  })
  return onto(taken, [{ code, amount: left }])
}

type Stage = Omit<RuledFact, "booked"> & { readonly booked: BookedFact | null }

/** One movement as its entries are booked, in the order of their positions. */
class Movement {
  readonly standing = new Map<Posted, Places>()
  private byHand = false
  private readonly facts: BookFacts
  private readonly entries: ReadonlyArray<Posted>
  private readonly isLinked: (entry: Posted) => boolean

  constructor(facts: BookFacts, entries: ReadonlyArray<Posted>, isLinked: (entry: Posted) => boolean) {
    this.facts = facts
    this.entries = [...entries].sort((a, b) => a.position - b.position)
    this.isLinked = isLinked
  }

  /** Null for all. */
  book(rules: Stage["rules"], booked: BookedFact | null): void {
    for (const entry of this.entries) {
      if (this.standing.has(entry)) continue
      const { entryId, of } = entry
      const subject = subjectOf(of.entry.related, of.resource !== undefined)
      if (booked === null || booked.get(entryId) === subject) this.put(entry, rules)
    }
  }

  apply({ applied, rules }: Stage): void {
    if (applied === null || this.byHand) return
    for (const entry of this.entries)
      if (this.standing.has(entry) && applied.has(entry.entryId)) this.put(entry, rules)
  }

  move({ code, entryId, fromSuspense }: ReclassifiedFact): void {
    this.byHand = true
    for (const [entry, places] of this.standing) {
      const isKnown = entry.counterAccount.role !== "suspense" || this.isLinked(entry)
      if (entry.entryId !== entryId || (fromSuspense === true && isKnown)) continue
      this.standing.set(
        entry,
        onto(
          [],
          places.map((place) => (place.code === null ? { ...place, code } : place)),
        ),
      )
    }
  }

  private put(entry: Posted, rules: Stage["rules"]): void {
    const before = this.entries
      .slice(0, this.entries.indexOf(entry))
      .reduce((sum: Places, one) => onto(sum, this.standing.get(one) ?? []), [])
    const clientId = this.facts.clientId ?? null
    const rule = this.isLinked(entry) ? null : ruleFor(rules, { ...entry.of, clientId })
    const isItsOwn = rule?.directed === true && !this.byHand
    const code = rule?.code ?? null
    this.standing.set(
      entry,
      isItsOwn ? [{ code, amount: entry.counter }] : fromThere(entry.counter, before, code),
    )
  }
}

export const places = (
  facts: BookFacts,
  posted: ReadonlyArray<Posted>,
  isLinked: (entry: Posted) => boolean,
): ReadonlyMap<Posted, Places> => {
  const stages: ReadonlyArray<Stage> = [
    ...(facts.ruled ?? []),
    { rules: facts.rules ?? [], booked: null, applied: null },
  ]
  const found = new Map<Posted, Places>()
  for (const group of grouped(posted, ({ movement }) => movement)) {
    const movement = new Movement(facts, group, isLinked)
    const ids = new Set(group.map(({ entryId }) => entryId))
    const moves = facts.reclassified.filter(({ entryId }) => ids.has(entryId))
    for (const [at, stage] of stages.entries()) {
      for (const move of moves) {
        if ((move.after ?? stages.length - 1) !== at) continue
        movement.book(stage.rules, move.booked ?? null)
        movement.move(move)
      }
      movement.book(stage.rules, stage.booked)
      movement.apply(stage)
    }
    for (const [entry, standing] of movement.standing) found.set(entry, standing)
  }
  return found
}
