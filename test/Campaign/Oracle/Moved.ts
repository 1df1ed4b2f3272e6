/**
 * Where the counter line of every entry stands, persons' moves included.
 *
 * Reading: what a person moved is the entry's counter line wherever it would stand (clearing, transit); its fee stays. What
 * was moved out of suspense is known no better: once the entry says what it is, it goes on to where that stands. What is booked
 * later of the movement and goes the other way comes from where the earlier entries stand, in their order, the first first.
 */
import type { BookFacts } from "../Facts.ts"
import { larger, smaller } from "./Decimal.ts"
import { grouped, type Posted } from "./Statement.ts"

/** Null: in the entry's own counter-account. */
export interface Place {
  readonly code: string | null
  readonly amount: bigint
}

const onto = (standing: ReadonlyArray<Place>, more: ReadonlyArray<Place>): ReadonlyArray<Place> => {
  const sums = new Map<string | null, bigint>()
  for (const { amount, code } of [...standing, ...more]) sums.set(code, (sums.get(code) ?? 0n) + amount)
  return [...sums].flatMap(([code, amount]) => (amount === 0n ? [] : [{ code, amount }]))
}

/** An amount from what stands there of the other sign; what is left over in the own account. */
const fromThere = (amount: bigint, standing: ReadonlyArray<Place>): ReadonlyArray<Place> => {
  let left = amount
  const taken = standing.map(({ amount: there, code }) => {
    const most = left > 0n ? larger(0n, smaller(left, -there)) : -larger(0n, smaller(-left, there))
    left -= most
    return { code, amount: most }
  })
  return onto(taken, [{ code: null, amount: left }])
}

export const places = (
  facts: BookFacts,
  posted: ReadonlyArray<Posted>,
  isLinked: (entry: Posted) => boolean,
): ReadonlyMap<Posted, ReadonlyArray<Place>> => {
  const moved = new Map(facts.reclassified.map((one) => [one.entryId, one]))
  const found = new Map<Posted, ReadonlyArray<Place>>()
  for (const group of grouped(posted, ({ movement }) => movement)) {
    const moves = group.flatMap(({ entryId }) => moved.get(entryId) ?? [])
    let standing: ReadonlyArray<Place> = []
    for (const entry of [...group].sort((a, b) => a.position - b.position)) {
      const by = moved.get(entry.entryId)
      const isKnown = entry.counterAccount.role !== "suspense" || isLinked(entry)
      const code = by === undefined || (by.fromSuspense === true && isKnown) ? null : by.code
      const isLater = moves.some(({ booked }) => booked !== undefined && !booked.has(entry.entryId))
      const own =
        isLater && code === null ? fromThere(entry.counter, standing) : [{ code, amount: entry.counter }]
      found.set(entry, own)
      standing = onto(standing, own)
    }
  }
  return found
}
