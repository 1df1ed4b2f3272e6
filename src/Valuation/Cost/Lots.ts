/**
 * First in, first out: the lots that are still held. Taking lots from the front moves an index, not the array, so that each lot
 * is paid for once.
 *
 * A lot costs the cents that its line was booked at; lines one after the other of one day and rate make one lot, so that a state
 * has some thirty of a month and not as many as there were payments. The rest of a lot that was split keeps the exact rest of that cost, a
 * fraction, whatever cents the other part was booked at.
 */
import { type Exact, exactly, negated, plus, reduced, times, unitOf } from "../Rates/Rate.ts"

/** A quantity that came in at one time and is still held; quantity and cost have the sign of the balance. */
export interface Lot {
  quantity: bigint
  cost: Exact
  /** The day and rate of the lot, to merge more of the same; null: it has a cost only. */
  readonly origin: string | null
}

export interface Lots {
  /** Lots before index `first` are used up. */
  readonly all: Array<Lot>
  first: number
}

export const noLots = (): Lots => ({ all: [], first: 0 })

export const lotsFrom = (lots: ReadonlyArray<Omit<Lot, "origin">>): Lots => ({
  all: lots.map((lot) => ({ ...lot, origin: null })),
  first: 0,
})

/** The oldest first. */
export const remaining = ({ all, first }: Lots): ReadonlyArray<Lot> => all.slice(first)

export const isEmpty = ({ all, first }: Lots): boolean => all.length === first

export const clear = (lots: Lots): void => {
  lots.all.length = 0
  lots.first = 0
}

/** Adds a lot, or adds to the newest where that has the same day and rate. */
export const push = (lots: Lots, quantity: bigint, cost: bigint, origin: string | null): void => {
  const newest = isEmpty(lots) ? undefined : lots.all.at(-1)
  if (newest !== undefined && origin !== null && newest.origin === origin) {
    newest.quantity += quantity
    newest.cost = reduced(plus(newest.cost, exactly(cost)))
  } else lots.all.push({ quantity, cost: exactly(cost), origin })
}

const isAll = (lot: Lot, quantity: bigint): boolean =>
  quantity < 0n ? lot.quantity >= quantity : lot.quantity <= quantity

/** Takes a part off a lot; returns its exact cost. */
const cut = (lot: Lot, quantity: bigint): Exact => {
  const cost = reduced(times(unitOf(lot.cost, lot.quantity), quantity))
  lot.quantity -= quantity
  lot.cost = reduced(plus(lot.cost, negated(cost)))
  return cost
}

/** Takes a quantity (with the sign of the lots, at most all of them) off the oldest lots; returns its exact cost. */
export const takeOldest = (lots: Lots, quantity: bigint): Exact => {
  let rest = quantity
  let sum = exactly(0n)
  for (let lot = lots.all[lots.first]; lot !== undefined && rest !== 0n; lot = lots.all[lots.first]) {
    if (!isAll(lot, rest)) return reduced(plus(sum, cut(lot, rest)))
    rest -= lot.quantity
    sum = reduced(plus(sum, lot.cost))
    lots.first += 1
  }
  if (isEmpty(lots)) clear(lots)
  return sum
}

/**
 * Takes a quantity (less than all) off the newest lots at a given cost, at most that of all lots. Any difference to their own
 * cost stays with the newest lot that is left; no lot's cost falls below zero.
 */
export const takeNewest = (lots: Lots, quantity: bigint, cost: bigint): void => {
  let rest = quantity
  let over = exactly(-cost)
  for (let lot = lots.all.at(-1); lot !== undefined && rest !== 0n; lot = lots.all.at(-1)) {
    if (!isAll(lot, rest)) {
      over = plus(over, cut(lot, rest))
      break
    }
    rest -= lot.quantity
    over = reduced(plus(over, lot.cost))
    lots.all.pop()
  }
  for (let at = lots.all.length - 1; at >= lots.first && over.numerator !== 0n; at--) {
    const lot = lots.all[at]
    if (lot === undefined) return
    const sum = reduced(plus(lot.cost, over))
    const isBelow = sum.numerator !== 0n && sum.numerator < 0n !== lot.quantity < 0n
    lot.cost = isBelow ? exactly(0n) : sum
    over = isBelow ? sum : exactly(0n)
  }
}
